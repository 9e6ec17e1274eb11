// What the command line says, in the language of the terminal (LC_ALL, LC_MESSAGES, LANG).

const en = {
  about: 'Tau: a local-first agent, on the command line',
  exit: `
Exit codes:
  0    the run completed
  1    the run failed (the reason is printed)
  2    the command was not understood
  3    the data folder cannot be used (in use by another Tau, damaged, read-only)
  4    no such session, or no such model
  5    a budget ended the run
  130  stopped by Ctrl-C`,
  ask: 'Ask a question; the answer streams to the terminal',
  askText: 'the question, or - to read it from standard input',
  sessions: 'List the sessions, newest first',
  show: 'Print the conversation of a session',
  showId: 'id of the session, or enough of its end to be unique',
  serve: 'Serve the window as a page to a browser on this computer',
  models: 'List the models that can be used',
  getStarter: 'fetch the starter model first (once, 93 MB)',
  session: 'go on with this session',
  model: 'model id (see "tau models"), or scripted:FILE',
  cwd: 'folder that the tools may see (default: the current one)',
  json: 'print JSON lines: the event protocol for "ask", records elsewhere',
  allow: 'without a terminal: allow calls with these labels (write, network, exec)',
  home: 'data folder (default: TAU_HOME, else ~/.tau)',
  archived: 'the archived ones',
  port: 'port to listen on (default: 4517, or a free one)',
  noOpen: 'do not open a browser',
  noSession: (id: string) => `There is no session ${id}. "tau sessions" lists them.`,
  noSessions: 'No sessions yet. "tau ask" begins one.',
  noModels: 'No models. "tau models --get-starter" fetches a small one; Ollama is found by itself when it runs.',
  noModel: 'There is no model to answer. Get the starter with "tau models --get-starter", start Ollama, or use --model.',
  badLabel: (label: string) => `--allow ${label}: the labels are write, network and exec.`,
  empty: 'There is nothing to ask: the text is empty.',
  tool: (name: string, args: string) => `→ ${name} ${args}`,
  toolEnd: (name: string, code: string, ms: number) =>
    code === 'ok' ? `✓ ${name} (${String(ms)} ms)` : `✗ ${name}: ${code} (${String(ms)} ms)`,
  wants: (tool: string, label: string) => `Tau asks: ${tool} (${label})`,
  file: (change: string, path: string) => `${change === 'create' ? 'create' : 'replace'} ${path}`,
  question: 'Allow? [y] once, [s] for this session, [n] no: ',
  why: 'Why not? (the model reads it) ',
  refused: 'Nobody at a terminal could be asked, and the flags do not allow it.',
  failed: (message: string) => `The run failed: ${message}`,
  budget: (name: string, limit: number) => `Stopped: the budget of ${String(limit)} (${name}) is used up.`,
  stopped: 'Stopped.',
  queued: 'waiting for the model …',
  loading: 'loading the model …',
  reading: 'reading the prompt …',
  thinking: 'thinking …',
  you: 'You',
  fetching: (step: string, done: string, total: string, left: string) => `starter model: ${step} ${done} of ${total} MB${left}`,
  steps: { finding: 'looking for it', downloading: 'downloading', checking: 'checking', unpacking: 'unpacking' },
  left: (seconds: number) => `, about ${String(seconds)} s left`,
  starterReady: 'starter model: ready',
  starterFailed: (message: string) => message,
  notReady: 'not ready',
  tools: 'tools',
  noTools: 'no tools'
}
export type CliText = typeof en

const zh: CliText = {
  about: 'Tau：本地优先的智能体，命令行版',
  exit: `
退出码：
  0    运行完成
  1    运行失败（会显示原因）
  2    命令无法理解
  3    数据文件夹不可用（另一个 Tau 正在使用、已损坏或只读）
  4    没有这个会话或模型
  5    预算用尽，运行结束
  130  被 Ctrl-C 停止`,
  ask: '提问，回答会逐字显示在终端',
  askText: '问题；写 - 则从标准输入读取',
  sessions: '列出会话，最新的在前',
  show: '显示一个会话的对话',
  showId: '会话的 id，或其结尾足以区分的一段',
  serve: '把窗口作为网页提供给本机的浏览器',
  models: '列出可用的模型',
  getStarter: '先获取入门模型（仅一次，93 MB）',
  session: '继续这个会话',
  model: '模型 id（见 "tau models"），或 scripted:文件',
  cwd: '工具可以看到的文件夹（默认：当前文件夹）',
  json: '输出 JSON 行："ask" 输出事件协议，其他命令输出记录',
  allow: '没有终端时：允许带这些标签的调用（write、network、exec）',
  home: '数据文件夹（默认：TAU_HOME，否则 ~/.tau）',
  archived: '已归档的会话',
  port: '监听端口（默认 4517，或任意空闲端口）',
  noOpen: '不打开浏览器',
  noSession: (id) => `没有会话 ${id}。"tau sessions" 会列出全部会话。`,
  noSessions: '还没有会话。用 "tau ask" 开始一个。',
  noModels: '没有模型。"tau models --get-starter" 会获取一个小模型；Ollama 运行时会被自动找到。',
  noModel: '没有可以回答的模型。用 "tau models --get-starter" 获取入门模型、启动 Ollama，或使用 --model。',
  badLabel: (label) => `--allow ${label}：可用的标签是 write、network 和 exec。`,
  empty: '没有内容可问：文字是空的。',
  tool: (name, args) => `→ ${name} ${args}`,
  toolEnd: (name, code, ms) => (code === 'ok' ? `✓ ${name}（${String(ms)} 毫秒）` : `✗ ${name}：${code}（${String(ms)} 毫秒）`),
  wants: (tool, label) => `Tau 请求：${tool}（${label}）`,
  file: (change, path) => `${change === 'create' ? '新建' : '替换'} ${path}`,
  question: '允许吗？[y] 一次，[s] 本会话，[n] 不允许：',
  why: '为什么不允许？（模型会读到）',
  refused: '没有终端可以询问，命令行参数也没有允许。',
  failed: (message) => `运行失败：${message}`,
  budget: (name, limit) => `已停止：预算 ${String(limit)}（${name}）已用尽。`,
  stopped: '已停止。',
  queued: '等待模型……',
  loading: '正在加载模型……',
  reading: '正在读取提示……',
  thinking: '正在思考……',
  you: '你',
  fetching: (step, done, total, left) => `入门模型：${step} ${done} / ${total} MB${left}`,
  steps: { finding: '查找', downloading: '下载', checking: '校验', unpacking: '解包' },
  left: (seconds) => `，约剩 ${String(seconds)} 秒`,
  starterReady: '入门模型：已就绪',
  starterFailed: (message) => `无法获取入门模型：${message}`,
  notReady: '未就绪',
  tools: '可用工具',
  noTools: '不用工具'
}

const language = process.env['LC_ALL'] ?? process.env['LC_MESSAGES'] ?? process.env['LANG'] ?? ''
export const text: CliText = language.toLowerCase().startsWith('zh') ? zh : en
