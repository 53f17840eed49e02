/** One request over HTTP; scripts are the same for etcd and for this server. */
export interface HttpStep {
  /** If omitted, POST. */
  readonly method?: string
  readonly path: string
  /** JSON of this, or the text as it is. */
  readonly body?: object | string
  /** The number of lines after which a stream of answers is left. If omitted, it ends by itself. */
  readonly lines?: number
  /** The token of the user who logged in by the step that has `savesAs`. */
  readonly as?: string
  readonly savesAs?: string
  /** True if the text of the error follows from the library that reads JSON. */
  readonly isMalformed?: boolean
}

/** A server that does not answer is a fault of the script. */
const answerMs = 10_000

/** Runs the steps and returns what was answered, one line each, without ids, times and sizes. */
export async function runHttpScript(
  endpoint: string,
  steps: readonly HttpStep[],
): Promise<string[]> {
  const tokens = new Map<string, string>()
  const answers: string[] = []
  for (const step of steps) {
    const { text, head } = await asked(endpoint, step, tokens)
    if (step.savesAs !== undefined) {
      tokens.set(step.savesAs, String((JSON.parse(text) as { token?: string }).token))
    }
    answers.push(`${step.path} ${head} ${shownText(text, step)}`)
  }
  return answers
}

async function asked(
  endpoint: string,
  step: HttpStep,
  tokens: ReadonlyMap<string, string>,
): Promise<{ head: string; text: string }> {
  const { method = 'POST', path, body, lines, as } = step
  const left = new AbortController()
  const late = AbortSignal.timeout(answerMs)
  const response = await fetch(`${endpoint}${path}`, {
    method,
    signal: AbortSignal.any([left.signal, late]),
    headers: as === undefined ? {} : { authorization: tokens.get(as) ?? as },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const type = response.headers.get('content-type') ?? ''
  const head = `${response.status} ${type.replace(/; (?:charset|version|escaping).*/, '')}`
  if (lines === undefined) return { head, text: await response.text() }
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.split('\n').length > lines) break
  }
  left.abort()
  return { head, text: text.split('\n').slice(0, lines).join('\n') }
}

/** Fields that differ between servers, and from run to run. */
const varying = new Set(
  `cluster_id member_id memberID raft_term token leader
  raftIndex raftAppliedIndex raftTerm dbSize dbSizeInUse dbSizeQuota
  downgradeInfo members details grpc_code http_code http_status
  storageVersion`.split(/\s+/),
)

function shownText(text: string, { path, isMalformed }: HttpStep): string {
  if (path === '/metrics') return `${text.length > 0}`
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line.startsWith('{') ? shownLine(line, path, isMalformed ?? false) : line))
    .toSorted(path.includes('verbose') ? undefined : () => 0)
    .join(' | ')
}

function shownLine(line: string, path: string, isMalformed: boolean): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted)
    if (typeof value !== 'object' || value === null) return value
    const isVarying = (name: string): boolean =>
      varying.has(name) || (name === 'version' && path.includes('/maintenance/'))
    const fields = Object.entries(value).filter(([name]) => !isVarying(name))
    // The text of an error stands there twice or once.
    const shown = fields.filter(([name]) => name !== 'error' || !('message' in value))
    return Object.fromEntries(
      shown
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, each]) => [name, shownField(name, each, path, isMalformed) ?? sorted(each)]),
    )
  }
  return JSON.stringify(sorted(JSON.parse(line)))
}

function shownField(
  name: string,
  value: unknown,
  path: string,
  isMalformed: boolean,
): string | undefined {
  if (name === 'message' && isMalformed) return 'malformed'
  if (path === '/version') return String(value).replaceAll(/\d+/g, 'n')
  // The time that is left, within a minute or two.
  if (name === 'TTL') return String(Math.ceil(Number(value) / 100) * 100)
  return undefined
}
