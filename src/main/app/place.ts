// Where Tau keeps its things and what it is called.
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { version } from '../../../package.json'

export { version }

/** The data folder: `--home`, else `TAU_HOME`, else `.tau` in the person's home folder. */
export const homeFolder = (given?: string): string => resolve(given ?? process.env['TAU_HOME'] ?? join(homedir(), '.tau'))
