// A real store, real packs and a real folder for undo, with nothing of sessions around them.
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, type Store } from '../../../src/main/store/store'
import { createUndo, type Undo, UNDO_LIMITS, type UndoLimits } from '../../../src/main/undo/undo'
import { freshFolder } from '../../support/folders'

export const SESSION = 'session-1'

export interface Bench {
  readonly store: Store
  readonly undo: Undo
  readonly home: string
  readonly workspace: string
  /** Does `work` as a call would, kept. Gives the id of the kept call; undefined: nothing changed. */
  call(work: () => unknown, paths?: readonly string[]): Promise<string | undefined>
  /** Plans and carries out. */
  back(...ids: (string | undefined)[]): Promise<Awaited<ReturnType<Undo['apply']>>>
  /** Another process on the same folders, after this one has gone. */
  again(): Bench
  close(): void
}

export function openBench(
  limits: Partial<UndoLimits> = {},
  home = freshFolder('home'),
  workspace = freshFolder('work'),
  now = Date.now
): Bench {
  const store = openStore(home, 'test')
  if (!store.sessions.find(SESSION)) {
    store.sessions.insert({
      id: SESSION,
      title: '',
      workspace,
      model: '',
      mode: 'ask',
      archived: false,
      steerMode: 'all',
      followUpMode: 'all',
      createdAt: 0,
      updatedAt: 0,
      state: 'ready'
    })
  }
  const undo = createUndo({
    store,
    folder: join(home, 'kept'),
    limits: { ...UNDO_LIMITS, ...limits },
    now,
    failed: (error) => {
      throw error
    }
  })
  const close = (): void => {
    undo.close()
    store.close()
  }
  return {
    store,
    undo,
    home,
    workspace,
    async call(work, paths) {
      const kept = await undo.before({ sessionId: SESSION, runId: 'r', callId: 'c', tool: 't', workspace, scope: paths ?? 'workspace' })
      await work()
      return (await kept.after())?.id
    },
    back: async (...ids) => undo.apply((await undo.plan(ids.filter((id) => id !== undefined))).token),
    again() {
      close()
      return openBench(limits, home, workspace, now)
    },
    close
  }
}

/** Everything below a folder: kinds, permissions, contents, where links point. */
export function picture(folder: string, at = ''): Record<string, string> {
  const all: Record<string, string> = {}
  for (const name of readdirSync(join(folder, at)).sort()) {
    const path = join(at, name)
    const info = lstatSync(join(folder, path))
    const mode = (info.mode & 0o7777).toString(8)
    if (info.isSymbolicLink()) all[path] = `link ${readlinkSync(join(folder, path))}`
    else if (info.isDirectory()) Object.assign(all, { [path]: `folder ${mode}` }, picture(folder, path))
    else if (info.isFile()) all[path] = `file ${mode} ${readFileSync(join(folder, path)).toString('base64')}`
    else all[path] = 'other'
  }
  return all
}

export const mode = (path: string, bits: number): void => {
  chmodSync(path, bits)
}
