#!/usr/bin/env node
// Entry of the command line: what each command is called and takes. The work is in the files beside it.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command, CommanderError, Option } from 'commander'
import { type App, composeApp } from '../app/compose'
import { homeFolder, version } from '../app/place'
import { ask, type AskOptions } from './ask'
import { EXIT, Failure } from './failure'
import { listModels, listSessions, showSession } from './list'
import { text } from './text'

interface Common {
  readonly home?: string
}
const home = (): Option => new Option('--home <dir>', text.home)
const json = (): Option => new Option('--json', text.json)

/** Runs `work` on the data folder and leaves with its exit code, everything closed. */
async function withApp(options: Common, work: (app: App) => Promise<number>): Promise<void> {
  const app = composeApp({ home: homeFolder(options.home), host: 'cli', version, engineEntry: join(import.meta.dirname, 'engine.js') })
  try {
    process.exitCode = await work(app)
  } finally {
    await app.close()
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
  .action((question: string, options: AskOptions & Common) => withApp(options, (app) => ask(app, question, options)))
program
  .command('sessions')
  .description(text.sessions)
  .option('--archived', text.archived)
  .addOption(json())
  .addOption(home())
  .action((options: Common & { json?: boolean; archived?: boolean }) => withApp(options, (app) => listSessions(app, options)))
program
  .command('show')
  .description(text.show)
  .argument('<id>', text.showId)
  .addOption(json())
  .addOption(home())
  .action((id: string, options: Common & { json?: boolean }) => withApp(options, (app) => showSession(app, id, options)))
program
  .command('models')
  .description(text.models)
  .option('--get-starter', text.getStarter)
  .addOption(json())
  .addOption(home())
  .action((options: Common & { json?: boolean; getStarter?: boolean }) => withApp(options, (app) => listModels(app, options)))
program
  .command('serve')
  .description(text.serve)
  .option('--port <n>', text.port)
  .option('--no-open', text.noOpen)
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
