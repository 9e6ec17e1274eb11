// The arguments of a call, which arrive as the text that the model wrote.
export interface Field {
  readonly name: string
  readonly value: string
}

/** Named values in their order; strings as they are, everything else as JSON. Undefined when the text is no JSON object. */
export function fieldsOf(text: string): Field[] | undefined {
  if (text.trim() === '') return []
  const parsed = parse(text)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
  return Object.entries(parsed).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  }))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const TELLING = ['path', 'file', 'file_path', 'command', 'pattern', 'query', 'url', 'name']

/** The one value that says most about a call, on one line. */
export function gistOf(text: string): string {
  const fields = fieldsOf(text)
  const told = TELLING.map((name) => fields?.find((f) => f.name === name)).find((f) => f !== undefined) ?? fields?.[0]
  return (told?.value ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 200)
}
