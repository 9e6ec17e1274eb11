// A data folder that cannot be written is still read: from a private copy, so that nothing of it needs to be written (spec: a read-only disk).
import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether there is a database that can be read where nothing can be written. */
export function isReadOnly(folder: string): boolean {
  const file = join(folder, 'tau.db')
  if (!existsSync(file)) return false
  try {
    accessSync(file, constants.R_OK)
  } catch {
    return false
  }
  try {
    accessSync(folder, constants.W_OK)
    accessSync(file, constants.W_OK)
    return false
  } catch {
    return true
  }
}

/** Copies the database of a folder; `remove` deletes the copy. */
export function copyDatabase(folder: string): { file: string; remove: () => void } {
  const place = mkdtempSync(join(tmpdir(), 'tau-read-'))
  const file = join(place, 'tau.db')
  for (const end of ['', '-wal']) {
    const from = join(folder, `tau.db${end}`)
    if (existsSync(from)) copyFileSync(from, `${file}${end}`)
  }
  return {
    file,
    remove: () => {
      rmSync(place, { recursive: true, force: true })
    }
  }
}
