#!/usr/bin/env node
// Entry of the command line: what each command is called and takes. The work is in the files beside it.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { styleText } from 'node:util'
import { Command, CommanderError, Option } from 'commander'
import { createRouterClient } from '@orpc/server'
import { composeApp } from '../app/compose'
import { lookAtRuns, readOwner } from '../app/owner/look'
import { homeFolder, version } from '../app/place'
import { type Client, visitOwner } from '../app/owner/visitor'
import { ask, type AskOptions } from './ask'
import { EXIT, Failure } from './failure'
import { exportTo, importFrom } from './sessions/files'
import { findSession } from './sessions/find'
import { listModels, listSessions, showSession } from './list'
import { queue, steer } from './sessions/queue'
import { answer, type ContinueOptions, goOn, printRuns, replay } from './sessions/runs'
import { text } from './text'
import { fork, goTo, label, printTree, remove, search, side } from './sessions/tree'
import { grants, mode, policy, type PolicyOptions } from './trust/policy'
import { text as trust } from './trust/text'
import { undo, type UndoOptions } from './trust/undo'
import { cancel, jobs, work } from './trust/work'

interface Common {
  readonly home?: string
}
const home = (): Option => new Option('--home <dir>', text.home)
const json = (): Option => new Option('--json', text.json)

/** Runs `work` on the data folder and leaves with its exit code, everything closed. A Tau that owns the folder already does the work instead. */
async function withClient(options: Common, work: (client: Client) => Promise<number>): Promise<void> {
  const home = homeFolder(options.home)
  const opened = await open(home)
  try {
    process.exitCode = await work(opened.client)
  } finally {
    await opened.close()
  }
}

async function open(home: string): Promise<{ client: Client; close(): void | Promise<void> }> {
  try {
    const app = await composeApp({ home, host: 'cli', version, engineEntry: join(import.meta.dirname, 'engine.js') })
    for (const { message } of app.core.feed.state.notices) process.stderr.write(`${styleText('yellow', message)}\n`)
    return { client: createRouterClient(app.router), close: () => app.close() }
  } catch (error) {
    const inUse = error instanceof Error && 'code' in error && error.code === 'in_use'
    const visit = inUse ? await visitOwner(home) : undefined
    if (!visit) throw error
    process.stderr.write(`${styleText('dim', text.handed)}\n`)
    return visit
  }
}

/** `tau runs`: asks the owner of the folder; of a Tau that was stopped, reads what it left without changing it. */
async function runsOf(id: string, options: Common & { json?: boolean }): Promise<void> {
  const home = homeFolder(options.home)
  const visit = readOwner(home) ? await visitOwner(home) : undefined
  try {
    const reports = visit ? await visit.client.sessions.runs({ sessionId: (await findSession(visit.client, id)).id }) : lookAtRuns(home, id)
    if (!reports) throw new Failure(EXIT.missing, text.noSession(id))
    process.exitCode = printRuns(reports, options)
  } finally {
    visit?.close()
  }
}

const program = new Command('tau')
  .description(text.about)
  .version(version)
  .addHelpText('after', text.exit)
  .showHelpAfterError()
  .exitOverride()
program
  .command('ask')
  .description(text.ask)
  .argument('<text>', text.askText)
  .option('--session <id>', text.session)
  .option('--model <id>', text.model)
  .option('--cwd <dir>', text.cwd)
  .option('--allow <labels...>', text.allow)
  .addOption(json())
  .addOption(home())
  .addHelpText('after', text.exit)
  .action((question: string, options: AskOptions & Common) => withClient(options, (client) => ask(client, question, options)))
program
  .command('sessions')
  .description(text.sessions)
  .option('--archived', text.archived)
  .option('--binned', text.binned)
  .addOption(json())
  .addOption(home())
  .action((options: Common & { json?: boolean; archived?: boolean; binned?: boolean }) =>
    withClient(options, (client) => listSessions(client, options))
  )
program
  .command('show')
  .description(text.show)
  .argument('<id>', text.showId)
  .addOption(json())
  .addOption(home())
  .action((id: string, options: Common & { json?: boolean }) => withClient(options, (client) => showSession(client, id, options)))
program
  .command('models')
  .description(text.models)
  .option('--get-starter', text.getStarter)
  .addOption(json())
  .addOption(home())
  .action((options: Common & { json?: boolean; getStarter?: boolean }) => withClient(options, (client) => listModels(client, options)))
program
  .command('steer')
  .description(text.steer)
  .argument('<session>', text.showId)
  .argument('<text>', text.steerText)
  .option('--now', text.now)
  .option('--later', text.later)
  .addOption(home())
  .action((id: string, words: string, options: Common & { now?: boolean; later?: boolean }) =>
    withClient(options, (client) => steer(client, id, words, options))
  )
program
  .command('queue')
  .description(text.queue)
  .argument('<session>', text.showId)
  .argument('[action...]', text.queueAction)
  .addOption(json())
  .addOption(home())
  .action((id: string, action: string[], options: Common & { json?: boolean }) =>
    withClient(options, (client) => queue(client, id, action, options))
  )
program
  .command('runs')
  .description(text.runs)
  .argument('<session>', text.showId)
  .addOption(json())
  .addOption(home())
  .action((id: string, options: Common & { json?: boolean }) => runsOf(id, options))
program
  .command('replay')
  .description(text.replay)
  .argument('<run>', text.replayId)
  .option('--speed <n>', text.speed)
  .option('--view', text.view)
  .addOption(json())
  .addOption(home())
  .action((id: string, options: Common & { json?: boolean; view?: boolean; speed?: string }) =>
    withClient(options, (client) => replay(client, id, options))
  )
program
  .command('continue')
  .description(text.continueRun)
  .argument('<session>', text.showId)
  .option('--turns <n>', text.moreTurns)
  .option('--calls <n>', text.moreCalls)
  .option('--tokens <n>', text.moreTokens)
  .option('--cost <n>', text.moreCost)
  .option('--minutes <n>', text.moreMinutes)
  .option('--allow <labels...>', text.allow)
  .addOption(json())
  .addOption(home())
  .addHelpText('after', text.exit)
  .action((id: string, options: Common & ContinueOptions) => withClient(options, (client) => goOn(client, id, options)))
program
  .command('answer')
  .description(text.answer)
  .argument('<session>', text.showId)
  .argument('[answer]', text.answerHow)
  .argument('[words]', text.answerReason)
  .option('--rule <json>', trust.rule)
  .addOption(home())
  .action((id: string, how: string | undefined, words: string | undefined, options: Common & { rule?: string }) =>
    withClient(options, (client) => answer(client, id, how, words ?? '', options))
  )
program
  .command('tree')
  .description(text.tree)
  .argument('<session>', text.showId)
  .addOption(json())
  .addOption(home())
  .action((id: string, options: Common & { json?: boolean }) => withClient(options, (client) => printTree(client, id, options)))
program
  .command('search')
  .description(text.search)
  .argument('<words>', text.searchWords)
  .addOption(json())
  .addOption(home())
  .action((words: string, options: Common & { json?: boolean }) => withClient(options, (client) => search(client, words, options)))
program
  .command('goto')
  .description(text.goto)
  .argument('<session>', text.showId)
  .argument('<message>', text.entry)
  .option('--summary', text.summary)
  .addOption(home())
  .action((id: string, entry: string, options: Common & { summary?: boolean }) =>
    withClient(options, (client) => goTo(client, id, entry, options))
  )
program
  .command('side')
  .description(text.side)
  .argument('<session>', text.showId)
  .argument('[action]', text.sideAction)
  .argument('[message]', text.entry)
  .addOption(home())
  .action((id: string, action: string | undefined, entry: string | undefined, options: Common) =>
    withClient(options, (client) => side(client, id, action, entry))
  )
program
  .command('label')
  .description(text.label)
  .argument('<session>', text.showId)
  .argument('<message>', text.entry)
  .argument('<name>', text.label)
  .addOption(home())
  .action((id: string, entry: string, name: string, options: Common) => withClient(options, (client) => label(client, id, entry, name)))
program
  .command('fork')
  .description(text.fork)
  .argument('<session>', text.showId)
  .argument('<message>', text.entry)
  .option('--branches', text.branches)
  .addOption(home())
  .action((id: string, entry: string, options: Common & { branches?: boolean }) =>
    withClient(options, (client) => fork(client, id, entry, options))
  )
program
  .command('delete')
  .description(text.remove)
  .argument('<session>', text.showId)
  .option('--restore', text.restoreSession)
  .option('--purge', text.purge)
  .addOption(home())
  .action((id: string, options: Common & { restore?: boolean; purge?: boolean }) =>
    withClient(options, (client) => remove(client, id, options))
  )
program
  .command('export')
  .description(text.export)
  .argument('<session>', text.showId)
  .option('--format <name>', text.format, 'pi')
  .option('--out <file>', text.out)
  .addOption(home())
  .action((id: string, options: Common & { format?: string; out?: string }) =>
    withClient(options, (client) => exportTo(client, id, options))
  )
program
  .command('import')
  .description(text.import)
  .argument('<file>', text.importFile)
  .option('--cwd <dir>', text.cwd)
  .addOption(json())
  .addOption(home())
  .action((file: string, options: Common & { cwd?: string; json?: boolean }) =>
    withClient(options, (client) => importFrom(client, file, options))
  )
program
  .command('policy')
  .description(trust.policy)
  .argument('[action...]', trust.policyAction)
  .option('--mode <mode>', trust.testMode)
  .option('--session <id>', trust.testSession)
  .option('--workspace <dir>', trust.testWorkspace)
  .addOption(json())
  .addOption(home())
  .action((action: string[], options: Common & PolicyOptions) => withClient(options, (client) => policy(client, action, options)))
program
  .command('grants')
  .description(trust.grants)
  .argument('[action...]', trust.grantsAction)
  .addOption(json())
  .addOption(home())
  .action((action: string[], options: Common & { json?: boolean }) => withClient(options, (client) => grants(client, action, options)))
program
  .command('mode')
  .description(trust.mode)
  .argument('<session>', text.showId)
  .argument('[mode]', trust.modeGiven)
  .addOption(home())
  .action((id: string, given: string | undefined, options: Common) => withClient(options, (client) => mode(client, id, given)))
program
  .command('undo')
  .description(trust.undo)
  .argument('[session]', text.showId)
  .option('--call <id>', trust.undoCall)
  .option('--run <id>', trust.undoRun)
  .option('--to <message>', trust.undoTo)
  .option('--yes', trust.undoYes)
  .option('--list', trust.undoList)
  .option('--usage', trust.undoUsage)
  .option('--clear', trust.undoClear)
  .addOption(json())
  .addOption(home())
  .action((id: string | undefined, options: Common & UndoOptions) => withClient(options, (client) => undo(client, id, options)))
program
  .command('jobs')
  .description(trust.jobs)
  .argument('[action...]', trust.jobsAction)
  .addOption(json())
  .addOption(home())
  .action((action: string[], options: Common & { json?: boolean }) => withClient(options, (client) => jobs(client, action, options)))
program
  .command('work')
  .description(trust.work)
  .addOption(json())
  .addOption(home())
  .action((options: Common & { json?: boolean }) => withClient(options, (client) => work(client, options)))
program
  .command('cancel')
  .description(trust.cancel)
  .argument('<session>', text.showId)
  .argument('<call>', trust.cancelCall)
  .addOption(home())
  .action((id: string, callId: string, options: Common) => withClient(options, (client) => cancel(client, id, callId)))
program
  .command('serve')
  .description(text.serve)
  .option('--port <n>', text.port)
  .option('--no-open', text.noOpen)
  .option('--workspace <dir>', text.workspace)
  .addOption(home())
  .action(async () => {
    // the web host is a program of its own, built beside this one; hosts do not import each other
    process.argv.splice(2, 1)
    await import(pathToFileURL(join(import.meta.dirname, 'web.js')).href)
  })

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.ok) // `tau show … | head`
  throw error
})
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeFor(error)
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Failure) {
    console.error(`tau: ${error.message}`)
    return error.exitCode
  }
  const message = error instanceof Error ? error.message : String(error)
  console.error(`tau: ${message}`)
  if (error instanceof Error && error.name === 'StoreError') return EXIT.folder
  return error instanceof Error && 'code' in error && error.code === 'UNUSABLE' ? EXIT.missing : EXIT.failed
}
