import { counted } from '../counted'

const n = counted('zh-CN')

export const tool = {
  states: { checking: '检查中', asking: '需要您回答', waiting: '等待轮到它', running: '运行中', done: '完成', unfinished: '没有结果' },
  waitsFor: (names: string) => `等待 ${names}`,
  andMore: (name: string, more: number) => `${name} 等另外 ${String(more)} 个`,
  stop: '停止',
  stopOne: (name: string) => `只停止 ${name} 的这次调用`,
  output: '最新输出',
  arguments: '参数',
  noArguments: '没有参数。',
  result: '结果',
  emptyResult: '结果为空。',
  foreign: '来自外部',
  foreignMore: '这段文字来自外部。模型被告知把它当作数据，而不是指令。',
  image: (at: number) => `结果中的第 ${String(at)} 张图片`,
  labels: { readonly: '读取', write: '修改文件', network: '使用网络', exec: '运行程序' },
  showLines: (lines: number) => n(lines, { other: '显示全部 # 行' }),
  whole: '显示完整输出',
  wholeTitle: (name: string) => `${name} 的完整输出`,
  wholeMore: (size: string) => `模型只得到了一部分。这里是全部内容：${size}。`,
  next: (lines: string) => `显示接下来的 ${lines} 行`,
  wholeGone: '这个输出已不再保留。'
}

export const undo = {
  files: (count: number) => n(count, { other: '# 个文件' }),
  changed: (files: string) => `修改了 ${files}`,
  call: '撤销…',
  callLabel: (name: string) => `撤销 ${name} 的修改`,
  redo: '取消撤销…',
  undone: '已撤销',
  run: (files: string) => `这次运行修改了 ${files}。`,
  runUndone: (files: string) => `这次运行修改了 ${files}，已全部撤销。`,
  runGo: '撤销这次运行…',
  since: '撤销这条消息之后的所有修改',
  title: { call: '撤销一次调用', run: '撤销一次运行', entry: '撤销到一条消息', redo: '取消一次撤销' },
  looking: '正在与现在的内容比较…',
  failed: '无法得知会发生什么。',
  refused: '撤销没有进行。',
  again: '再看一次',
  lead: (calls: string, files: string) => `${calls}，${files}。现在还没有任何改变。`,
  calls: (count: number) => n(count, { other: '# 次调用' }),
  nothing: '没有可撤销的内容：这里没有保留 Tau 的任何修改。',
  nothingLeft: '没有剩下要做的事：一切都已是原样，或者无法恢复。',
  states: {
    restore: '将恢复',
    nothing: '已经是原样',
    changed_since: '之后被改过：保持不变',
    not_kept: '没有保留：保持不变'
  },
  deletes: '将删除',
  deleted: '已删除',
  stateMore: {
    changed_since: '在 Tau 之后有人改过它，因此不去动它。',
    not_kept: '原来的内容太大，没有保留，或者已不再保留。'
  },
  becomes: {
    file: '恢复原来的文件',
    folder: '恢复原来的文件夹',
    link: '恢复原来的链接',
    other: '恢复原来的内容',
    absent: '删除：原来没有它'
  },
  noDiff: (before: string, after: string) => `没有可显示的文字。现在 ${before}，撤销后 ${after}。`,
  limits: '有些内容没有保留：',
  go: (files: string) => `撤销 ${files}`,
  working: '正在撤销…',
  done: (files: string) => `已恢复原状：${files}。`,
  left: (files: string) => `没有动：${files}。`,
  takeBack: '取消这次撤销…',
  results: { restore: '已恢复', nothing: '本来就是原样', changed_since: '没有动：之后被改过', not_kept: '没有动：没有保留' }
}

export const work = {
  open: '队列和后台任务',
  queue: '调用',
  noQueue: '没有等待或运行中的调用。',
  running: '运行中',
  waiting: '等待中',
  behind: (names: string) => `排在 ${names} 之后`,
  alone: '有影响：这个文件夹里没有别的调用与它同时运行',
  jobs: '后台任务',
  noJobs: '后台没有运行中的命令。',
  states: { running: '运行中', exited: '已结束', stopped: '已停止', failed: '失败' },
  exit: (code: number) => `结束码 ${String(code)}`,
  output: '输出',
  noOutput: '还没有输出。',
  stop: '停止',
  stopJob: (command: string) => `停止 ${command}`,
  stopCall: (tool: string) => `停止 ${tool}`,
  unknown: '另一个会话',
  summary: (running: number, waiting: number, jobs: number) =>
    `${String(running)} 个运行中，${String(waiting)} 个等待中，${String(jobs)} 个后台任务`
}
