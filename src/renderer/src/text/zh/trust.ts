import { counted } from '../counted'

const n = counted('zh-CN')

export const approval = {
  titles: {
    create: 'Tau 想新建一个文件',
    replace: 'Tau 想替换一个文件',
    edit: 'Tau 想修改一个文件',
    move: 'Tau 想移动一个文件',
    delete: 'Tau 想删除一个文件',
    command: 'Tau 想运行一条命令',
    background: 'Tau 想在后台启动一条命令',
    url: 'Tau 想打开一个网址',
    question: 'Tau 想问您'
  },
  use: (tool: string) => `Tau 想使用 ${tool}`,
  place: (at: string, all: string) => `第 ${at} 个，共 ${all} 个`,
  several: '等待回答的问题',
  previous: '上一个问题',
  next: '下一个问题',
  path: '文件',
  to: '移动到',
  change: '将会发生的改动',
  same: '文件不会有变化。',
  empty: '一个空文件。',
  moved: '文件内容保持不变。',
  noText: '没有可显示的文字：文件是空的，或者不是文本文件。',
  folded: (lines: number) => n(lines, { other: '显示 # 行未改动的内容' }),
  notShown: (lines: number) => n(lines, { other: '还有 # 行改动没有显示' }),
  showRest: (lines: number) => n(lines, { other: '显示接下来的 # 行' }),
  counts: (added: number, removed: number) => `新增 ${String(added)} 行，删除 ${String(removed)} 行`,
  command: '命令',
  cwd: '运行位置',
  network: '它要求使用网络。',
  sandboxed: (kind: string) => `在系统沙盒（${kind}）里运行。`,
  unsandboxed: '不在沙盒里运行：凡是您在这台电脑上能做的，它都能做。',
  address: '网址',
  choices: '可选的回答',
  reply: '您的回答',
  replyHint: '或者用您自己的话回答',
  replySend: '回答',
  touches: '它可能触及的内容',
  reads: '读取',
  writes: '修改',
  runs: '运行',
  reaches: '访问',
  gets: '如果允许，它还可以',
  getsNetwork: '使用网络',
  getsRead: (path: string) => `读取 ${path}`,
  getsWrite: (path: string) => `修改 ${path}`,
  getsUnsandboxed: '不受沙盒限制',
  unsure: '可能还有事先无法知道的内容。',
  why: '为什么询问您',
  sources: {
    'built-in': '内置规则',
    mode: '本会话的模式',
    file: '您的策略文件',
    workspace: '此工作区的规则',
    grant: '您授予的规则',
    session: '本会话的规则',
    safety: '无法解除的安全规则'
  },
  reasons: {
    foreign: '这源自外部来的文字。',
    secret: '这涉及看起来像机密的内容。',
    outside_workspace: '这在会话的文件夹之外。',
    network_data: '这会通过网络发送数据。',
    reads_outside: '这会读取会话文件夹之外的内容。',
    protected: '这会修改 git 自己的文件，git 可能会运行它们。'
  },
  foreign: '这源自外部来的文字：网页、服务器或别人写的文件。这是您要求的吗？',
  once: '允许一次',
  session: '本会话内允许',
  always: '在此工作区始终允许…',
  sessionMore: '“本会话内允许”今后还会直接放行：',
  onceOnly: '这只能允许一次。',
  deny: '拒绝…',
  reason: '为什么不？模型会读到这段话。',
  reasonHint: '例如：换一个文件名',
  denyConfirm: '拒绝',
  decline: '不回答…',
  gone: '这个问题已在别的窗口回答，或者已经结束。您输入的内容没有发送。',
  hidden: '其中含有看不见的字符或会改变文字顺序的字符，已用标记显示出来。',
  mixed: '其中混用了外形相似的不同字母。',
  blank: (count: number) => n(count, { other: '# 个空格' }),
  exact: '将会发生的事',
  again: 'Tau 结束时这个操作正在进行：它可能已经发生。允许之前请先确认。',
  notice: (session: string) => `${session} · Tau 在等您回答`
}

export const grant = {
  title: '将会保存这条规则',
  lead: '符合它的调用不会再询问。',
  scope: '适用范围',
  scopes: { session: '本会话', always: '此工作区' },
  allow: '允许并记住',
  hints: {
    tool: '* 代表任意字符',
    path: '* 代表一个名称，** 代表任意文件夹',
    command: '* 代表一个词，末尾的 ** 代表后面任意的词',
    host: '开头的 *. 代表所有子域名'
  },
  refused: '这条规则没有保存，什么也没有运行：'
}

export const rule = {
  verdicts: { allow: '允许', ask: '询问', deny: '拒绝' },
  fields: { tool: '工具', label: '类型', path: '路径', command: '命令', host: '主机' },
  everything: '一切'
}

export const mode = {
  label: 'Tau 无需询问就能做的事',
  names: { 'read-only': '只读', ask: '询问', workspace: '工作区', trusted: '信任' },
  lines: {
    'read-only': 'Tau 只阅读和回答，不做任何有影响的事。',
    ask: '每次要做有影响的事，Tau 都先询问。',
    workspace: 'Tau 可自由修改此工作区的文件；运行命令和其他操作会先询问。',
    trusted: 'Tau 还可以在沙盒里直接运行命令，不再询问。'
  },
  warn: '命令运行之前没有人查看。只在您不怕丢失的文件夹里选择它。',
  noSandbox: '这台电脑上没有沙盒，因此命令仍会询问。',
  fault: '策略文件无法使用，因此每次都会询问：'
}

export const settings = {
  open: '权限、撤销、通知…',
  title: '设置',
  tabs: { rules: '规则', grants: '已授予', undo: '撤销', notify: '通知' },
  loading: '正在读取…',
  failed: '无法读取。Tau 还在运行吗？',
  again: '重新读取',
  file: '策略文件',
  noFile: '还没有策略文件，现在使用内置规则。在这个路径写一个文件，就能添加您自己的规则。',
  mode: '新会话的模式',
  rules: '文件中的规则（按顺序）',
  order: '最后一条符合的规则起决定作用，但拒绝的规则优先于其他所有规则。',
  noRules: '文件里没有自己的规则。',
  sandbox: '沙盒',
  sandboxKinds: {
    bubblewrap: '命令在 bubblewrap 里运行。',
    none: '这里没有沙盒：凡是您能做的，命令都能做。'
  },
  test: '测试一条命令',
  testMore: '不会运行任何东西，也不会询问；只说明会如何决定。',
  testHint: '例如 git push origin main',
  testGo: '测试',
  testIn: (session: string) => `按会话“${session}”判断。`,
  testInWorkspace: (workspace: string) => `按 ${workspace} 里的新会话判断。`,
  testParts: '逐个部分',
  outcomes: { allow: '会直接运行，不询问', ask: '会询问您', deny: '会被拒绝' },
  grants: '您在回答时授予的规则',
  noGrants: '您还没有授予过长期的规则。当您回答“本会话内允许”或“始终允许”时，规则会出现在这里。',
  grantedIn: { session: '在一个会话里', workspace: '在此工作区' },
  takeBack: '收回',
  usage: '为撤销而保留的数据',
  used: (bytes: string, limit: string) => `${bytes}，上限 ${limit}`,
  calls: (count: number) => n(count, { other: '# 次调用可以撤销' }),
  age: (days: number) => n(days, { other: '保留 # 天' }),
  oldest: (when: string) => `最早的是 ${when}`,
  nothingKept: '还没有保留任何数据。',
  clear: '全部忘记…',
  clearSure: '之后就无法撤销 Tau 到目前为止做的任何事。文件本身保持不变。',
  clearGo: '忘记',
  notify: 'Tau 等待时通知我',
  notifyMore: '当这个页面不可见而 Tau 需要您回答时，系统会显示通知。',
  notifyOn: '通知已打开。',
  notifyOff: '通知已关闭。',
  notifyTurnOn: '打开',
  notifyTurnOff: '关闭',
  notifyBlocked: '这里阻止了 Tau 的通知。在浏览器中，您可以在设置里为这个页面允许通知。页面标题会显示等待的数量。',
  notifyMissing: '这个浏览器不支持通知。页面标题会显示等待的数量。'
}
