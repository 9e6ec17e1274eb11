// Secrets in a text, replaced by a visible mark: what a model reads, what is logged and what is sent never holds them (spec G3).

/** What is found, by the name that its mark carries. Every pattern begins with fixed letters and has bounds, so that it takes linear time. */
const SHAPES: readonly (readonly [name: string, pattern: string])[] = [
  [
    'private key',
    String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]{0,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?`
  ],
  ['GitHub token', String.raw`\bgh[pousr]_[A-Za-z0-9]{36,251}\b|\bgithub_pat_[A-Za-z0-9_]{60,255}\b`],
  ['GitLab token', String.raw`\bglpat-[A-Za-z0-9_-]{20,64}`],
  ['Anthropic key', String.raw`\bsk-ant-[A-Za-z0-9_-]{20,250}`],
  ['OpenAI key', String.raw`\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,250}`],
  ['AWS key', String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`],
  ['Google key', String.raw`\bAIza[A-Za-z0-9_-]{35}\b`],
  ['Slack token', String.raw`\bxox[abprs]-[A-Za-z0-9-]{10,250}`],
  ['Stripe key', String.raw`\b[sr]k_live_[A-Za-z0-9]{16,250}`],
  ['npm token', String.raw`\bnpm_[A-Za-z0-9]{36}\b`],
  ['Hugging Face token', String.raw`\bhf_[A-Za-z0-9]{30,60}\b`],
  ['token', String.raw`\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}`]
]
/** These keep what stands before the secret: the name of a setting, the scheme of an address. */
const AFTER: readonly (readonly [name: string, before: string, secret: string])[] = [
  ['token', String.raw`\b(?:[Bb]earer|[Bb]asic) `, String.raw`[A-Za-z0-9._~+/=-]{20,4000}`],
  ['password', String.raw`\b[a-z][a-z0-9+]{1,15}://[^\s/:@'"]{0,64}:`, String.raw`[^\s/:@'"[\]]{3,200}(?=@)`],
  [
    'value',
    // settings as in .env files: names in capitals, with a word that says it
    String.raw`\b(?:[A-Z][A-Z0-9_]{0,60}_)?(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|PRIVATE_KEY|ACCESS_KEY)(?:_[A-Z0-9_]{0,30})? ?= ?["']?`,
    String.raw`(?!\$|<|\[secret|process|os\.)[^\s"'#;,()]{6,500}`
  ]
]

const whole = new RegExp(SHAPES.map(([, p]) => `(${p})`).join('|'), 'g')
const parts = AFTER.map(([name, before, secret]) => ({ name, pattern: new RegExp(`(${before})${secret}`, 'g') }))

const mark = (name: string): string => `[secret: ${name}]`

/** The text without the secrets in it. Applied twice it changes nothing more. */
export function maskSecrets(text: string): string {
  let masked = text.replace(whole, (...found: (string | undefined)[]) => {
    const at = SHAPES.findIndex((_shape, i) => found[i + 1] !== undefined)
    return mark(SHAPES[at]?.[0] ?? 'token')
  })
  for (const { name, pattern } of parts) masked = masked.replace(pattern, (_all, head: string) => head + mark(name))
  return masked
}
