// Small things about text that more than one room needs.

/** The first line that says something, at most `max` characters; whole code points, with an ellipsis where it was cut. */
export function firstLine(text: string, max: number): string {
  const line = Array.from(
    text
      .split('\n')
      .find((l) => l.trim() !== '')
      ?.trim() ?? ''
  )
  return line.length > max ? `${line.slice(0, max - 1).join('')}…` : line.join('')
}
