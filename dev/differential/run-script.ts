import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { createNormaliser, type Normaliser } from './normalise.ts'
import { fill, requestOf, type Exchange, type OutgoingRequest, type Script } from './script.ts'
import { connect, EventReader, type Connection, type RawAnswer, type Subject } from './subject.ts'

/** The status of a request that got no answer. */
export const broken = 0

/** The compared parts of one exchange. */
export interface Answer {
  readonly name: string
  /** The status, or `broken` if the server ended the connection without an answer. */
  readonly status: number
  /** Only the compared ones, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The normalised body: JSON, an array of watch events, or text. Undefined if there is none. */
  readonly body: unknown
}

/** Runs every exchange in order in its own namespace; leaves no cluster-scoped object behind. */
export async function runScript(script: Script, subject: Subject): Promise<Answer[]> {
  using connection = connect(subject)
  const run: Run = {
    connection,
    normaliser: createNormaliser(script.text),
    variables: new Map([
      ['ns', script.name],
      ['url', subject.url],
    ]),
    watches: new Map(),
    created: [],
  }
  await makeNamespace(run, script.name)
  const answers: Answer[] = []
  try {
    for (const exchange of script.exchanges) {
      try {
        answers.push(await runExchange(run, exchange))
      } catch (error) {
        if (isBroken(error)) {
          answers.push({ name: exchange.name, status: broken, headers: {}, body: undefined })
          continue
        }
        throw new Error(`Cannot run ${script.name}: "${exchange.name}"`, { cause: error })
      }
    }
  } finally {
    for (const watch of run.watches.values()) watch.close()
    await removeCreated(run)
  }
  return answers
}

/** Returns whether the server ended the connection. Servers in Go do so when a request's handler panics. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

interface Run {
  readonly connection: Connection
  readonly normaliser: Normaliser
  readonly variables: Map<string, string>
  readonly watches: Map<string, EventReader>
  /** The paths of created objects without a namespace, oldest first. */
  readonly created: string[]
}

async function runExchange(run: Run, exchange: Exchange): Promise<Answer> {
  const { name, method, headers } = exchange
  if (method === 'EVENTS') {
    const [watch = '', count = '1'] = exchange.target.split(' ')
    const reader = run.watches.get(watch)
    if (!reader) throw new RangeError(`Cannot read events: no watch is kept as ${watch}`)
    const events = await readEvents(reader, count)
    return answerOf(run, exchange, { status: 200, headers: {} }, events)
  }
  const request = requestOf(exchange, run.variables)
  let answer = await run.connection.send(request)
  if (method === 'WATCH' && answer.status === 200) {
    const reader = new EventReader(answer.stream)
    const kept = headers['keep']
    if (kept !== undefined) {
      run.watches.set(kept, reader)
      return answerOf(run, exchange, answer, undefined)
    }
    const events = await readEvents(reader, fill(headers['events'] ?? 'end', run.variables))
    reader.close()
    return answerOf(run, exchange, answer, events)
  }
  const until = headers['until']
  let body = decode(await readAll(answer), answer)
  if (until !== undefined) ({ answer, body } = await readUntil(run, request, until))
  noteCreated(run, request, answer, body)
  for (const [variable, path] of Object.entries(exchange.captures)) {
    run.variables.set(variable, valueAt(body, path) ?? `no-${variable}-in-${name.length}`)
  }
  return answerOf(run, exchange, answer, body)
}

const untilMsMax = 10_000

/** Reads again until the field exists or has the given value. Servers write some fields later. */
async function readUntil(
  run: Run,
  request: OutgoingRequest,
  until: string,
): Promise<{ answer: RawAnswer; body: unknown }> {
  const [path = '', wanted] = until.split(' = ')
  const endMs = performance.now() + untilMsMax
  for (;;) {
    const answer = await run.connection.send(request)
    const body = decode(await readAll(answer), answer)
    const value = valueAt(body, path)
    const isThere = value !== undefined && (wanted === undefined || value === wanted)
    if (isThere || performance.now() > endMs) return { answer, body }
    await sleep(20)
  }
}

function answerOf(
  { normaliser }: Run,
  { name }: Exchange,
  answer: Pick<RawAnswer, 'status' | 'headers'>,
  body: unknown,
): Answer {
  const normalised = normaliser.body(body)
  const headers = normaliser.headers(answer.headers)
  return { name, status: answer.status, headers, body: normalised }
}

const eventsMsMax = 10_000

/** Reads this many events, or all if `end` is given; `timeout` stands for an event that did not come. */
async function readEvents(reader: EventReader, count: string): Promise<unknown[]> {
  const events: unknown[] = []
  const wanted = count === 'end' ? Number.POSITIVE_INFINITY : Number(count)
  const stopped = new AbortController()
  const late = sleep(eventsMsMax, 'timeout', { signal: stopped.signal }).catch(() => 'timeout')
  while (events.length < wanted) {
    const event = await Promise.race([reader.next(), late])
    if (event === undefined && count !== 'end') events.push('end')
    if (event === undefined) break
    events.push(event)
    if (event === 'timeout') break
  }
  stopped.abort()
  return events
}

async function readAll({ stream }: RawAnswer): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}

function decode(bytes: Buffer, { headers }: RawAnswer): unknown {
  if (bytes.length === 0) return undefined
  const type = headers['content-type']?.[0] ?? ''
  if (type.includes('protobuf')) return `${bytes.subarray(0, 4).toString('latin1')}…`
  const text = bytes.toString()
  try {
    if (type.includes('json')) return JSON.parse(text)
    if (type.includes('yaml')) return parse(text)
  } catch {
    // A body that does not parse is compared as text.
    return text
  }
  return text
}

function valueAt(body: unknown, path: string): string | undefined {
  let value: unknown = body
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    // Any JSON object or array may be indexed by a string.
    value = (value as Readonly<Record<string, unknown>>)[step]
  }
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Creates the namespace and its service account, which no controller does here. */
async function makeNamespace(run: Run, name: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  await send(run, 'POST', '/api/v1/namespaces', namespace)
  await send(run, 'POST', `/api/v1/namespaces/${name}/serviceaccounts`, account)
}

function noteCreated(run: Run, request: OutgoingRequest, answer: RawAnswer, body: unknown): void {
  if (answer.status !== 201 || /dryRun=/.test(request.path)) return
  const [path = ''] = request.path.split('?')
  if (/\/namespaces\/[^/]+\//.test(path)) return
  const name = valueAt(body, 'metadata.name')
  if (name === undefined) return
  run.created.push(request.method === 'POST' ? `${path}/${name}` : path)
}

/** Removes created objects, so that a script's answers do not depend on earlier scripts. */
async function removeCreated(run: Run): Promise<void> {
  for (const path of run.created.toReversed()) {
    const { status } = await send(run, 'DELETE', `${path}?gracePeriodSeconds=0`)
    if (status === 404) continue
    await send(run, 'PATCH', path, { metadata: { finalizers: null } })
  }
}

async function send(run: Run, method: string, path: string, body?: object): Promise<RawAnswer> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const bytes = body && Buffer.from(JSON.stringify(body))
  const answer = await run.connection.send({
    method,
    path,
    headers: bytes ? { 'content-type': type, 'content-length': String(bytes.length) } : {},
    body: bytes,
    isAuthenticated: true,
  })
  await readAll(answer)
  return answer
}
