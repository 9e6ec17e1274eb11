// What tests need from the system: a Chromium, fonts for Chinese, and the sandbox that commands run in. Installed where we may, else named.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run, say } from './toolchain.mjs'

/** How scripts and tests start Chromium: headless as root, and silent towards the network. */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

/** Path of a Chromium or Chrome on this machine. @returns {string | undefined} */
export function findChromium() {
  const { env, platform } = process
  const programs = [env['PROGRAMFILES'], env['PROGRAMFILES(X86)'], env['LOCALAPPDATA']].filter((p) => p !== undefined)
  const places =
    platform === 'win32'
      ? programs.flatMap((p) => [join(p, 'Google/Chrome/Application/chrome.exe'), join(p, 'Microsoft/Edge/Application/msedge.exe')])
      : platform === 'darwin'
        ? ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium']
        : ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable']
  return [env['TAU_CHROMIUM'] ?? '', ...places].find((path) => path !== '' && existsSync(path))
}

/** Sees to a Chromium and to bubblewrap: finds them, or installs Debian's where we are root and apt-get is there. @returns {Promise<string | undefined>} the Chromium */
export async function ensureSystem() {
  const hasFonts = process.platform !== 'linux' || existsSync('/usr/share/fonts/opentype/noto')
  const hasSandbox = process.platform !== 'linux' || existsSync('/usr/bin/bwrap')
  const found = findChromium()
  if (found !== undefined && hasFonts && hasSandbox) return found
  const missing = [
    ...(found === undefined ? ['chromium'] : []),
    ...(hasFonts ? [] : ['fonts-noto-cjk']),
    ...(hasSandbox ? [] : ['bubblewrap'])
  ]
  const may = process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0
  if (!may) {
    say(`not all tests can run without ${missing.join(' and ')}. To run them: ${howTo(missing)}`)
    return found
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('looking for system packages (apt-get update)', 'apt-get', ['update'], { env })
  const args = ['install', '-y', '--no-install-recommends', ...missing]
  const { code, output } = await run(`installing ${missing.join(' and ')} from the system's packages`, 'apt-get', args, { env })
  if (code !== 0) say(`${output}\nsome tests are skipped. To run them: ${howTo(missing)}`)
  return findChromium()
}

/** @param {string[]} packages */
function howTo(packages) {
  if (process.platform === 'linux') return `sudo apt-get install ${packages.join(' ')}  (or set TAU_CHROMIUM to a Chromium)`
  return 'install Google Chrome, or set TAU_CHROMIUM to a Chromium'
}
