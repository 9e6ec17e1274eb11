// Every word of the window in English. The other languages have the same shape; a missing text is a type error.
import { counted } from '../counted'
import { tool, undo, work } from './effects'
import { faults, results } from './faults'
import { approval, grant, mode, rule, settings } from './trust'

const n = counted('en')

export const en = {
  name: 'English',
  tag: 'en',
  common: {
    copy: 'Copy',
    copied: 'Copied',
    cancel: 'Cancel',
    close: 'Close',
    showAll: 'Show all',
    showLess: 'Show less',
    more: 'More',
    opensOutside: 'opens in a new tab',
    left: (time: string) => `${time} left`,
    of: (done: string, total: string) => `${done} of ${total}`
  },
  link: {
    connecting: 'Connecting to Tau…',
    reconnecting: 'Reconnecting… Nothing is lost: what you typed stays here.',
    silent: 'Tau does not answer. If you started it again, open the new address shown in its terminal.',
    refused: 'Tau was restarted — open the new address shown in its terminal.'
  },
  refusals: {
    cut: 'The connection was cut before Tau could do that. Try again.',
    other: (message: string) => `That did not work: ${message}`,
    byCode: {
      NOT_FOUND: 'That is no longer there.',
      CONFLICT: 'That is not possible right now. Something else is going on in this session.',
      UNUSABLE: 'The model or folder cannot be used.',
      UNSTORED: 'It could not be stored, so nothing happened. Make room on the disk, then try again.'
    } as Record<string, string>
  },
  sidebar: {
    label: 'Sessions',
    open: 'Show the sessions',
    close: 'Hide the sessions',
    home: 'Start page',
    new: 'New session',
    untitled: 'New session',
    none: 'No sessions yet',
    noneMore: 'What you start is kept here, on this computer.',
    rename: 'Rename',
    renameField: 'Name of the session',
    archive: 'Archive',
    remove: 'Move to the bin',
    bin: 'Bin',
    noneBinned: 'The bin is empty.',
    takeBack: 'Take out',
    purge: 'Delete for good',
    purgeSure: (title: string) => `Delete "${title}" for good? This cannot be undone.`,
    restore: 'Restore',
    archived: 'Archived',
    noneArchived: 'Nothing is archived.',
    menu: (title: string) => `Actions for ${title}`
  },
  sessionState: {
    ready: 'Ready',
    running: 'Working',
    waiting: 'Waiting for your answer',
    'needs-retry': 'Trying again soon',
    completed: 'Done',
    failed: 'Ended with an error',
    cancelled: 'Stopped',
    interrupted: 'Interrupted'
  },
  footer: {
    label: 'Tau on this computer',
    settings: 'Status and settings',
    language: 'Language',
    look: 'Appearance',
    looks: { system: 'System', light: 'Light', dark: 'Dark' },
    engine: 'Engine',
    ollama: 'Ollama',
    host: 'Runs in',
    hosts: { desktop: 'a desktop window', web: 'a browser page', cli: 'a terminal', test: 'a test' },
    version: (version: string) => `Tau ${version}`,
    lookAgain: 'Look again',
    restart: 'Restart the engine',
    engineStates: { stopped: 'Idle', starting: 'Starting…', running: 'Running', crashed: 'Crashed', unavailable: 'Not available here' },
    reachable: 'Connected',
    unreachable: 'Not running',
    local: 'On this computer',
    offline: 'No connection to Tau'
  },
  start: {
    headline: 'What shall we do?',
    lead: 'Tau works in a folder on this computer, with a model on this computer. It asks before it changes anything.',
    folder: 'Works in',
    ready: (name: string) => `${name} is ready`,
    noModel: 'No model yet',
    noModelMore: 'Tau needs a model that runs on this computer. The starter model comes with one click, and the tour works without any.',
    starter: 'Starter model',
    getStarter: 'Get the starter model (93 MB)',
    starterHonest:
      'A small model: good for seeing Tau work, not an agent’s brain. The next step is a bigger model through Ollama; Tau finds it by itself.',
    steps: {
      finding: 'Looking for the download…',
      downloading: 'Downloading the starter model',
      checking: 'Checking the download…',
      unpacking: 'Unpacking…'
    },
    failed: 'The starter model did not arrive',
    again: 'Try again',
    tour: 'Take the guided tour',
    tourMore: 'Two minutes, nothing to install',
    tourText: 'Show me around',
    examples: 'Or begin with one of these',
    examplePrompts: [
      'Explain what is in this folder, in five sentences.',
      'Find every open task in my notes and list them by date.',
      'Write a README for this folder; ask me before you save it.'
    ],
    looking: 'Looking for models…'
  },
  model: {
    label: 'Model',
    choose: 'Choose a model',
    none: 'No model',
    sources: { engine: 'Built in', ollama: 'Ollama', scripted: 'Guided tour' },
    noTools: 'no tools',
    context: (tokens: string) => `${tokens} context`,
    gone: 'No longer installed',
    notReady: 'not ready',
    empty: 'No models were found.'
  },
  conversation: {
    label: 'Conversation',
    missing: 'This session does not exist (any more).',
    back: 'Back to the start page',
    loading: 'Opening the session…',
    older: 'Show earlier messages',
    loadingOlder: 'Reading…',
    blank: 'A new session',
    blankMore: 'Tau can read this folder and asks before it changes anything in it.',
    toEnd: 'Jump to the latest message',
    needsYou: 'Tau waits for your answer',
    you: 'You',
    tau: 'Tau'
  },
  storage: {
    full: 'The disk is full. What runs waits, and goes on by itself when there is room; new messages cannot be kept.',
    busy: 'Another program holds the database. What runs waits, and goes on by itself.',
    failing: 'The disk reports a fault. What runs waits and tries again; look at the disk.',
    'read-only': 'Nothing can be saved: the data folder is read-only. Earlier sessions can be read; new messages are not taken.'
  },
  storeNotices: {
    torn_tail:
      'The computer went off in the middle of a write: what was written in that moment may be missing. Everything before it is there.',
    salvaged: 'The database was damaged. What could be read was saved, the damaged file is kept beside it in the data folder.'
  } as Record<string, string>,
  message: {
    taken: (kind: string, turn: number) => `${kind} · heard in round ${String(turn)}`,
    picture: 'Picture',
    branchSummary: 'Summary of another branch',
    compaction: 'Summary of what came before',
    goThere: 'Go to that branch',
    filesRead: 'Files read',
    filesChanged: 'Files changed',
    edit: 'Edit and send again',
    editField: 'Your message',
    resend: 'Send',
    editNote: 'The old version stays; you can switch back to it.',
    copy: 'Copy message',
    busy: 'Possible once the answer is finished or stopped',
    branch: (current: number, total: number) => `Version ${String(current)} of ${String(total)}`,
    previous: 'Previous version',
    next: 'Next version',
    thinking: 'Thinking…',
    thought: 'Thoughts',
    thoughtFor: (time: string) => `Thought for ${time}`,
    rest: (size: string) => `Show the next part (${size} left)`,
    cutByLength: 'The answer was cut: the model reached its limit of tokens.',
    stopped: 'Stopped here.',
    interrupted: 'Interrupted here.',
    speed: (perSecond: string) => `${perSecond} tokens/s`,
    tokens: (count: number) => n(count, { one: '# token', other: '# tokens' }),
    untold: 'No words in this answer.',
    codePlain: 'text'
  },
  status: {
    queued: 'Waiting for the model…',
    loading: 'Loading the model…',
    reading: 'Reading the conversation…',
    thinking: 'Thinking…',
    writing: 'Writing…',
    tool: (name: string) => `Using ${name}…`,
    asking: 'Waiting for your answer',
    turn: (turn: number) => `Round ${String(turn)}`,
    working: 'Working…',
    retry: (attempt: number, attempts: number, seconds: number) =>
      `The request failed. Trying again in ${String(seconds)} s (${String(attempt)} of ${String(attempts)})`
  },
  announce: {
    started: 'Tau is working on it.',
    asking: (what: string) => `${what}. It waits for your answer.`,
    done: 'The answer is finished.',
    failed: 'The run ended with an error.',
    stopped: 'The run was stopped.'
  },
  tool,
  undo,
  work,
  approval,
  grant,
  rule,
  mode,
  settings,
  composer: {
    label: 'Message to Tau',
    placeholder: 'Ask Tau…',
    placeholderBusy: 'Say something while this goes on…',
    send: 'Send',
    stop: 'Stop',
    hint: 'Enter sends, Shift+Enter begins a new line',
    hintBusy: 'Alt+Enter: afterwards',
    archived: 'This session is archived.',
    binned: 'This session is in the bin.',
    restore: 'Restore it',
    noModel: 'This session has no model yet.',
    use: (name: string) => `Use ${name}`,
    offline: 'No connection right now. What you type is kept.',
    tooLong: 'This is too long to send (more than a million characters).',
    queueLabel: 'Waiting messages',
    when: 'When it is to be heard',
    kinds: { steer: 'Next step', 'follow-up': 'Afterwards', interrupt: 'Now' },
    kindHints: {
      steer: 'Heard before the next step; what runs now is finished first',
      'follow-up': 'Send when this is done',
      interrupt: 'Ends the present step at once; what is finished stays'
    },
    kindOf: (words: string) => `When "${words}" is to be heard`,
    editQueued: 'Change the words',
    keep: 'Keep',
    sooner: 'Earlier',
    held: (count: number) =>
      n(count, { one: '# message is held back: its run had ended.', other: '# messages are held back: their run had ended.' }),
    release: 'Let go',
    withdraw: 'Take back'
  },
  notices: { late_result: 'A tool finished after the run had ended; its result was not used.' } as Record<string, string>,
  end: {
    retry: 'Try again',
    go: 'Continue',
    model: 'Choose another model',
    restart: 'Restart the engine',
    starter: 'Get the starter model',
    error: 'Tau could not finish',
    aborted: 'You stopped this run. What was finished stays.',
    interrupted: 'Tau was closed while this was going on. What was finished stays.',
    terminated: (by: string) => `Ended by ${by}.`,
    budget: (name: string, limit: string) => `Stopped by a limit: ${name} (${limit}).`,
    repetition: 'Stopped: the model repeated itself without getting further.',
    repeated: (tool: string, times: number) => `Stopped: ${tool} was called ${String(times)} times with the same result.`,
    details: 'Details'
  },
  budgets: {
    turns: 'rounds',
    money: 'dollars',
    'wall time': 'time',
    requests: 'requests',
    tokens: 'tokens',
    calls: 'tool calls',
    time: 'time'
  } as Record<string, string>,
  faults,
  results
}

export type Messages = typeof en
