// A data folder that cannot be written is still read: from a private copy, so that nothing of it needs to be written (spec: a read-only disk).
import { accessSync, chmodSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether there is a database that can be read. */
export const hasDatabase = (folder: string): boolean => may(join(folder, 'tau.db'), constants.R_OK)

/** Whether there is one that can be read where nothing can be written. */
export const isReadOnly = (folder: string): boolean =>
  hasDatabase(folder) && !(may(folder, constants.W_OK) && may(join(folder, 'tau.db'), constants.W_OK))

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Copies the database of a folder; `remove` deletes the copy. */
export function copyDatabase(folder: string): { file: string; remove: () => void } {
  const place = mkdtempSync(join(tmpdir(), 'tau-read-'))
  const file = join(place, 'tau.db')
  const remove = (): void => {
    rmSync(place, { recursive: true, force: true })
  }
  try {
    for (const end of ['', '-wal']) {
      const from = join(folder, `tau.db${end}`)
      if (!existsSync(from)) continue
      copyFileSync(from, `${file}${end}`)
      chmodSync(`${file}${end}`, 0o600) // a copy of what may not be written may not be written either
    }
    return { file, remove }
  } catch (error) {
    remove()
    throw error
  }
}
