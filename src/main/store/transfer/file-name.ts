// The name of an exported file. Titles come from people and models: what any system reserves, hides or turns around goes, and what is left fits
// every file system.

/** Names that Windows keeps for devices, with any ending, also with spaces before it. */
const DEVICES = /^(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])\s*(\..*)?$/i

/** A file name made of a title that every system takes; never empty. `extension` without its dot. */
export function fileNameFor(title: string, extension: string): string {
  const plain = title
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .replaceAll(/[/\\:*?"<>|]/g, '-')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/-{2,}/g, '-')
  // 255 bytes are what most file systems take for a name
  let name = ''
  for (const char of plain) if (Buffer.byteLength(name + char) <= 180) name += char
  name = name.replaceAll(/^[.\s-]+|[.\s-]+$/g, '')
  if (name === '' || DEVICES.test(name)) name = `session${name === '' ? '' : `-${name}`}`
  return `${name}.${extension}`
}
