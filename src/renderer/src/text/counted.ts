/** Picks the form of a language's plural and writes the number into it. */
export function counted(tag: string): (count: number, forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }) => string {
  const rules = new Intl.PluralRules(tag)
  const digits = new Intl.NumberFormat(tag)
  return (count, forms) => (forms[rules.select(count)] ?? forms.other).replace('#', digits.format(count))
}
