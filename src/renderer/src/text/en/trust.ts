// What Tau may do: the questions before an effect, modes, rules and the page of settings.
import { counted } from '../counted'

const n = counted('en')

export const approval = {
  titles: {
    create: 'Tau wants to create a file',
    replace: 'Tau wants to replace a file',
    edit: 'Tau wants to edit a file',
    move: 'Tau wants to move a file',
    delete: 'Tau wants to delete a file',
    command: 'Tau wants to run a command',
    background: 'Tau wants to start a command in the background',
    url: 'Tau wants to open a web address',
    question: 'Tau asks you'
  },
  use: (tool: string) => `Tau wants to use ${tool}`,
  place: (at: string, all: string) => `${at} of ${all}`,
  several: 'Questions that wait',
  previous: 'Previous question',
  next: 'Next question',
  path: 'File',
  to: 'Moves to',
  change: 'What would change',
  same: 'The file would stay as it is.',
  empty: 'An empty file.',
  moved: 'What is in it stays as it is.',
  noText: 'There is no text to show: the file is empty, or it is not a text file.',
  folded: (lines: number) => n(lines, { one: 'Show # unchanged line', other: 'Show # unchanged lines' }),
  notShown: (lines: number) =>
    n(lines, { one: '# more line of the change is not shown yet', other: '# more lines of the change are not shown yet' }),
  showRest: (lines: number) => n(lines, { one: 'Show the next line', other: 'Show the next # lines' }),
  counts: (added: number, removed: number) =>
    `${n(added, { one: '# line added', other: '# lines added' })}, ${n(removed, { one: '# line removed', other: '# lines removed' })}`,
  command: 'Command',
  cwd: 'Runs in',
  network: 'It asks for the network.',
  sandboxed: (kind: string) => `Runs inside the sandbox of the system (${kind}).`,
  unsandboxed: 'Runs without a sandbox: it can do everything that you can do on this computer.',
  address: 'Address',
  choices: 'Answers to choose from',
  reply: 'Your answer',
  replyHint: 'Or answer in your own words',
  replySend: 'Answer',
  touches: 'What it may touch',
  reads: 'Reads',
  writes: 'Changes',
  runs: 'Runs',
  reaches: 'Reaches',
  gets: 'If you allow it, it may also',
  getsNetwork: 'use the network',
  getsRead: (path: string) => `read ${path}`,
  getsWrite: (path: string) => `change ${path}`,
  getsUnsandboxed: 'run without the sandbox',
  unsure: 'There may be more that nobody can know beforehand.',
  why: 'Why you are asked',
  sources: {
    'built-in': 'built-in rule',
    mode: 'mode of this session',
    file: 'your policy file',
    workspace: 'rule of this workspace',
    grant: 'rule that you granted',
    session: 'rule of this session',
    safety: 'safety rule, which nothing lifts'
  },
  reasons: {
    foreign: 'This follows from text that came from outside.',
    secret: 'This touches something that looks like a secret.',
    outside_workspace: 'This is outside the folder of the session.',
    network_data: 'This sends data over the network.',
    reads_outside: 'This reads outside the folder of the session.',
    protected: 'This changes files of git, which git may run.'
  } as Record<string, string>,
  foreign: 'This follows from text that came from outside: a page, a server or a file that somebody else wrote. Is it what you asked for?',
  once: 'Allow once',
  session: 'For this session',
  always: 'Always in this workspace…',
  sessionMore: '“For this session” also lets through, from now on:',
  onceOnly: 'This can be allowed once only.',
  deny: 'Deny…',
  reason: 'Why not? The model reads this.',
  reasonHint: 'For example: use another file name',
  denyConfirm: 'Deny',
  decline: 'Do not answer…',
  gone: 'This question was answered in another window, or is over. What you typed was not sent.',
  hidden: 'This contains characters that cannot be seen or that change the order of the text. They are shown as marks.',
  mixed: 'This mixes letters of different alphabets that look alike.',
  blank: (count: number) => n(count, { one: '# space', other: '# spaces' }),
  exact: 'Exactly what would happen',
  again: 'This was going on when Tau ended: it may have happened already. Look before you allow it.',
  notice: (session: string) => `${session} · Tau waits for your answer`
}

export const grant = {
  title: 'This rule would be stored',
  lead: 'Calls that fit it will not ask again.',
  scope: 'Where it holds',
  scopes: { session: 'This session', always: 'This workspace' },
  allow: 'Allow and remember',
  hints: {
    tool: '* stands for any characters',
    path: '* stands for one name, ** for any folders',
    command: '* stands for one word, ** at the end for any further words',
    host: '*. at the front stands for every subdomain'
  },
  refused: 'This rule was not stored, and nothing ran:'
}

export const rule = {
  verdicts: { allow: 'Allow', ask: 'Ask', deny: 'Deny' },
  fields: { tool: 'Tool', label: 'Kind', path: 'Path', command: 'Command', host: 'Host' },
  everything: 'everything'
}

export const mode = {
  label: 'What Tau may do without asking',
  names: { 'read-only': 'Read only', ask: 'Ask', workspace: 'Workspace', trusted: 'Trusted' },
  lines: {
    'read-only': 'Tau reads and answers; nothing with an effect happens.',
    ask: 'Tau asks before every effect.',
    workspace: 'Tau edits files of this workspace freely, and asks before commands and everything else.',
    trusted: 'Tau also runs commands inside the sandbox without asking.'
  },
  warn: 'Nobody looks at a command before it runs. Choose this only for a folder that you can lose.',
  noSandbox: 'There is no sandbox on this computer, so commands ask all the same.',
  fault: 'The policy file cannot be used, so every effect asks:'
}

export const settings = {
  open: 'Permissions, undo, notifications…',
  title: 'Settings',
  tabs: { rules: 'Rules', grants: 'Granted', undo: 'Undo', notify: 'Notifications' },
  loading: 'Reading…',
  failed: 'That could not be read. Is Tau still running?',
  again: 'Read again',
  file: 'Policy file',
  noFile: 'There is no policy file yet; the rules that are built in hold. Write one at this path to add your own.',
  mode: 'Mode of new sessions',
  rules: 'Rules in the file, in their order',
  order: 'The last rule that fits decides, and a rule that denies beats every other.',
  noRules: 'The file has no rules of its own.',
  sandbox: 'Sandbox',
  sandboxKinds: {
    bubblewrap: 'Commands run inside bubblewrap.',
    none: 'There is none here: a command can do everything that you can do.'
  },
  test: 'Test a command',
  testMore: 'Nothing runs and nothing is asked; this only says what would be decided.',
  testHint: 'git push origin main',
  testGo: 'Test',
  testIn: (session: string) => `As in the session "${session}".`,
  testInWorkspace: (workspace: string) => `As in a new session in ${workspace}.`,
  testParts: 'Part by part',
  outcomes: { allow: 'It would run without asking', ask: 'You would be asked', deny: 'It would be refused' },
  grants: 'Rules that you granted while answering',
  noGrants: 'You granted nothing that lasts. Rules come here when you answer "For this session" or "Always".',
  grantedIn: { session: 'in one session', workspace: 'in this workspace' },
  takeBack: 'Take back',
  usage: 'Kept for undo',
  used: (bytes: string, limit: string) => `${bytes} of ${limit}`,
  calls: (count: number) => n(count, { one: '# call can be undone', other: '# calls can be undone' }),
  age: (days: number) => n(days, { one: 'Kept for # day', other: 'Kept for # days' }),
  oldest: (when: string) => `the oldest is of ${when}`,
  nothingKept: 'Nothing is kept yet.',
  clear: 'Forget all of it…',
  clearSure: 'Nothing that Tau did until now can be undone then. The files themselves stay as they are.',
  clearGo: 'Forget it',
  notify: 'Tell me when Tau waits',
  notifyMore: 'When this page is hidden and Tau needs your answer, the system shows a notification.',
  notifyOn: 'Notifications are on.',
  notifyOff: 'Notifications are off.',
  notifyTurnOn: 'Turn on',
  notifyTurnOff: 'Turn off',
  notifyBlocked:
    'Notifications from Tau are blocked here. A browser can allow them in its settings for this page. The title of the page counts what waits.',
  notifyMissing: 'This browser knows no notifications. The title of the page counts what waits.'
}
