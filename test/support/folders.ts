import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A fresh folder; its real path, as the system's temporary folder may be a link. */
export const freshFolder = (name = 'test'): string => realpathSync(mkdtempSync(join(tmpdir(), `tau-${name}-`)))
