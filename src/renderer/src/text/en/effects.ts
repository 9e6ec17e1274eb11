// What Tau does and did: calls, the queue, background jobs, outputs, and the way back.
import { counted } from '../counted'

const n = counted('en')

export const tool = {
  states: {
    checking: 'Checking',
    asking: 'Needs your answer',
    waiting: 'Waiting for its turn',
    running: 'Running',
    done: 'Done',
    unfinished: 'No result'
  },
  waitsFor: (names: string) => `waits for ${names}`,
  andMore: (name: string, more: number) => `${name} and ${String(more)} more`,
  stop: 'Stop',
  stopOne: (name: string) => `Stop only this call of ${name}`,
  output: 'Newest output',
  arguments: 'Arguments',
  noArguments: 'No arguments.',
  result: 'Result',
  emptyResult: 'The result is empty.',
  foreign: 'from outside',
  foreignMore: 'This text came from outside. The model is told to take it as data, not as orders.',
  image: (at: number) => `Picture ${String(at)} of the result`,
  labels: { readonly: 'reads', write: 'changes files', network: 'uses the network', exec: 'runs a program' },
  showLines: (lines: number) => n(lines, { one: 'Show # more line', other: 'Show all # lines' }),
  whole: 'Show the whole output',
  wholeTitle: (name: string) => `Whole output of ${name}`,
  wholeMore: (size: string) => `The model got a part of this. Here is all of it: ${size}.`,
  next: (lines: string) => `Show the next ${lines} lines`,
  wholeGone: 'This output is no longer kept.'
}

export const undo = {
  files: (count: number) => n(count, { one: '# file', other: '# files' }),
  changed: (files: string) => `Changed ${files}`,
  call: 'Undo…',
  callLabel: (name: string) => `Undo what ${name} changed`,
  redo: 'Take the undo back…',
  undone: 'Undone',
  run: (files: string) => `This run changed ${files}.`,
  runUndone: (files: string) => `This run changed ${files}; all of it was undone.`,
  runGo: 'Undo this run…',
  since: 'Undo every change since this message',
  title: {
    call: 'Undo one call',
    run: 'Undo a run',
    entry: 'Undo back to a message',
    redo: 'Take an undo back'
  },
  looking: 'Comparing with what is there now…',
  failed: 'What would happen could not be found out.',
  refused: 'The undo did not take place.',
  again: 'Look again',
  lead: (calls: string, files: string) => `${calls}, ${files}. Nothing has changed yet.`,
  calls: (count: number) => n(count, { one: '# call', other: '# calls' }),
  nothing: 'There is nothing to undo: no change of Tau is kept here.',
  nothingLeft: 'There is nothing left to do: everything is as it was, or cannot be brought back.',
  states: {
    restore: 'Comes back',
    nothing: 'Is as it was already',
    changed_since: 'Changed since: stays as it is',
    not_kept: 'Not kept: stays as it is'
  },
  /** Of a path that was not there before. */
  deletes: 'Is deleted',
  deleted: 'Deleted',
  stateMore: {
    changed_since: 'Somebody changed this after Tau did. It is left alone.',
    not_kept: 'What was there was too large to keep, or is no longer kept.'
  },
  becomes: {
    file: 'the former file',
    folder: 'the former folder',
    link: 'the former link',
    other: 'what was there',
    absent: 'deleted: it was not there before'
  },
  noDiff: (before: string, after: string) => `No text to show. ${before} now, ${after} after the undo.`,
  limits: 'Not everything could be kept:',
  go: (files: string) => `Undo ${files}`,
  working: 'Undoing…',
  done: (files: string) => `As it was before: ${files}.`,
  left: (files: string) => `Left alone: ${files}.`,
  takeBack: 'Take this undo back…',
  results: {
    restore: 'Brought back',
    nothing: 'Was as it should be',
    changed_since: 'Left alone: changed since',
    not_kept: 'Left alone: not kept'
  }
}

export const work = {
  open: 'Queue and background jobs',
  queue: 'Calls',
  noQueue: 'No call waits or runs.',
  running: 'runs',
  waiting: 'waits',
  behind: (names: string) => `behind ${names}`,
  alone: 'Has effects: nothing else of this folder runs beside it',
  jobs: 'Background jobs',
  noJobs: 'No command runs in the background.',
  states: { running: 'Running', exited: 'Ended', stopped: 'Stopped', failed: 'Failed' },
  exit: (code: number) => `exit code ${String(code)}`,
  output: 'Output',
  noOutput: 'No output yet.',
  stop: 'Stop',
  stopJob: (command: string) => `Stop ${command}`,
  stopCall: (tool: string) => `Stop ${tool}`,
  unknown: 'another session',
  summary: (running: number, waiting: number, jobs: number) =>
    `${String(running)} running, ${String(waiting)} waiting, ${n(jobs, { one: '# background job', other: '# background jobs' })}`
}
