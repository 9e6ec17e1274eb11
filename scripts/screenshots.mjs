// npm run screenshots: the pictures of the README, taken from the real page with a scripted model. Look at them before you commit them.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromiumFlags, findChromium } from './system.mjs'
import { ensureBuilt, ensureInstalled, ensureNode, fail, root, say } from './toolchain.mjs'

await ensureInstalled()
await ensureNode(join(root, 'scripts/screenshots.mjs'))
await ensureBuilt()
const { chromium } = await import('playwright-core')
const executablePath = findChromium() ?? fail('no Chromium was found; set TAU_CHROMIUM to one')

const home = mkdtempSync(join(tmpdir(), 'tau-home-'))
const workspace = join(mkdtempSync(join(tmpdir(), 'tau-')), 'garden')
mkdirSync(workspace)
writeFileSync(join(workspace, 'notes.txt'), 'To do\n- water the roses\n- buy seeds\n\nIdeas\n- a bench under the tree\n')
writeFileSync(
  join(workspace, 'talk.script'),
  `think: The notes come first.
say: I will look at your notes first.
call: read_file {"path": "notes.txt"}
---
say: Two things are due. I would **put them in order** and add the day for each:
call: write_file {"path": "notes.txt", "content": "To do\\n- Saturday: buy seeds (carrots, peas)\\n- Sunday: water the roses\\n\\nIdeas\\n- a bench under the tree\\n"}
---
say: Done.
`
)
const host = spawn(
  process.execPath,
  [join(root, 'out/main/web.js'), '--no-open', '--port=0', `--home=${home}`, `--workspace=${workspace}`],
  { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, OLLAMA_HOST: 'http://127.0.0.1:1' } }
)
const link = await new Promise((resolve) => {
  host.stdout.on('data', (chunk) => {
    const [found] = /http\S+/.exec(String(chunk)) ?? []
    if (found !== undefined) resolve(found)
  })
})
const browser = await chromium.launch({ executablePath, args: chromiumFlags })
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1, locale: 'en-US' })
const page = await context.newPage()
await page.goto(String(link))
await page.getByTestId('start-view').waitFor()
await makeSession(`scripted:${join(workspace, 'talk.script')}`)
await page.getByTestId('session-item').first().click()
await page.getByTestId('composer').fill('Tidy up my notes, please.')
await page.getByTestId('composer').press('Enter')
await page.getByTestId('approval-card').waitFor()
await page.mouse.move(0, 0)
for (const scheme of /** @type {const} */ (['light', 'dark'])) {
  await page.emulateMedia({ colorScheme: scheme })
  await page.waitForTimeout(400) // colours change softly
  await page.screenshot({ path: join(root, 'docs/images', scheme === 'light' ? 'window.png' : 'window-dark.png') })
}
await browser.close()
host.kill()
say('docs/images/window.png and window-dark.png are new')

/** A session with a script as its model, which the page itself does not offer. @param {string} model */
async function makeSession(model) {
  const [{ createORPCClient }, { RPCLink }, { WebSocket }] = await Promise.all([
    import('@orpc/client'),
    import('@orpc/client/websocket'),
    import('ws')
  ])
  const { origin, host: address } = new URL(page.url())
  const cookie = (await context.cookies()).map((c) => `${c.name}=${c.value}`).join('; ')
  const websocket = new WebSocket(`ws://${address}/rpc`, { origin, headers: { cookie } })
  /** @type {any} */
  const api = createORPCClient(new RPCLink({ websocket: /** @type {any} */ (websocket) }))
  await api.sessions.create({ model, title: 'Tidy up my notes' })
  websocket.terminate()
}
