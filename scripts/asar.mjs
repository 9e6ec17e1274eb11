// Reads Electron's archive format: a header in JSON that names every file, then the files one after another.
import { closeSync, copyFileSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** @typedef {{ files?: Record<string, Node>, size?: number, offset?: string, unpacked?: boolean, link?: string }} Node */
/** A file of an archive; `offset` is missing for one that lies beside it, in `app.asar.unpacked`.
 * @typedef {{ path: string, size: number, offset?: number }} ArchiveFile */

/** @param {string} archive @returns {ArchiveFile[]} */
export function listArchive(archive) {
  return withFile(archive, (read) => {
    const sizes = read(0, 16)
    const start = 8 + sizes.readUInt32LE(4)
    const root = /** @type {Node} */ (JSON.parse(read(16, sizes.readUInt32LE(12)).toString('utf8')))
    return walk(root, '', start)
  })
}

/** Writes all files into `folder`, those from beside the archive too. @param {string} archive @param {string} folder */
export function extractArchive(archive, folder) {
  const files = listArchive(archive)
  withFile(archive, (read) => {
    for (const { path, size, offset } of files) {
      const to = join(folder, path)
      mkdirSync(dirname(to), { recursive: true })
      if (offset === undefined) copyFileSync(join(`${archive}.unpacked`, path), to)
      else writeFileSync(to, read(offset, size))
    }
  })
}

/** @param {Node} node @param {string} path @param {number} start @returns {ArchiveFile[]} */
function walk(node, path, start) {
  if (node.files) return Object.entries(node.files).flatMap(([name, child]) => walk(child, path === '' ? name : `${path}/${name}`, start))
  if (node.link !== undefined) return []
  const file = { path, size: node.size ?? 0 }
  return [node.unpacked ? file : { ...file, offset: start + Number(node.offset) }]
}

/** @template T @param {string} path @param {(read: (at: number, size: number) => Buffer) => T} work @returns {T} */
function withFile(path, work) {
  const file = openSync(path, 'r')
  try {
    return work((at, size) => {
      const buffer = Buffer.alloc(size)
      readSync(file, buffer, 0, size, at)
      return buffer
    })
  } finally {
    closeSync(file)
  }
}
