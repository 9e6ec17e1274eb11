// Kills a real process at random moments, again and again on the same data folder, and looks after each kill whether anything that was promised is
// missing. Ends with 1 at the first broken rule and says the seed that leads there.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { SessionEvent } from '../src/shared/event'
import { freshFolder } from '../test/support/harness'
import { check, type Said } from './check'
import { random } from './random'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '25' }, seed: { type: 'string' }, quiet: { type: 'boolean' } }
})
const kills = Number(values.kills)
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const { upTo } = random(seed)
/** After so many kills the next ones begin in a new folder: checks read everything, and a folder that grows for ever would only slow them. */
const KILLS_A_FOLDER = 25
/** Longest life of a child after its start, in milliseconds. */
const LIFE_MS = 300

let place = fresh()
let total = { shown: 0, accepted: 0, unknown: 0, parked: 0, events: 0, entries: 0 }
for (let kill = 1; kill <= kills; kill++) {
  if (kill % KILLS_A_FOLDER === 0) place = fresh()
  const said = await lifeOf(seed + kill)
  const { broken, events, entries, unknown, parked } = await check(place.home, place.workspace, place.effects, said)
  total = {
    shown: total.shown + said.shown.length,
    accepted: total.accepted + said.accepted.length,
    unknown: total.unknown + unknown,
    parked: total.parked + parked,
    events: Math.max(total.events, events),
    entries: Math.max(total.entries, entries)
  }
  if (broken.length > 0) {
    console.log(`kill ${String(kill)} with seed ${String(seed)} in ${place.home}:\n  ${broken.slice(0, 10).join('\n  ')}`)
    process.exit(1)
  }
  if (!values.quiet && kill % 25 === 0) console.error(`${String(kill)} kills, nothing lost`)
}
console.log(JSON.stringify({ kills, seed, ...total }))

function fresh(): { home: string; workspace: string; effects: string } {
  const home = freshFolder('torture')
  const effects = join(freshFolder('effects'), 'effects.txt')
  writeFileSync(effects, '')
  return { home, workspace: freshFolder('work'), effects }
}

/** Starts a child, kills it at some moment, and gives back what it had said by then. */
async function lifeOf(childSeed: number): Promise<Said> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'child.js'), place.home, place.workspace, place.effects, String(childSeed)],
    {
      stdio: ['ignore', 'pipe', 'inherit']
    }
  )
  const said = { shown: [] as SessionEvent[], accepted: [] as Said['accepted'][number][], answered: [] as Said['answered'][number][] }
  const ready = Promise.withResolvers<undefined>()
  const ended = new Promise((resolve) => child.once('close', resolve))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const lines = text.split('\n')
    text = lines.pop() ?? '' // a line that the kill cut was never said
    for (const line of lines) {
      const value = JSON.parse(line) as {
        ready?: true
        shown?: SessionEvent
        accepted?: Said['accepted'][number]
        answered?: Said['answered'][number]
      }
      if (value.ready) ready.resolve(undefined)
      if (value.shown) said.shown.push(value.shown)
      if (value.accepted) said.accepted.push(value.accepted)
      if (value.answered) said.answered.push(value.answered)
    }
  })
  await Promise.race([ready.promise, ended])
  await sleep(upTo(LIFE_MS))
  if (child.exitCode !== null) {
    console.log(`the child ended by itself (${String(child.exitCode)}), seed ${String(childSeed)}`)
    process.exit(1)
  }
  child.kill('SIGKILL')
  await ended
  return said
}
