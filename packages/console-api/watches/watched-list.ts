import { isJsonObject, type JsonObject } from '@skerry/api'
import type { ApiAnswer } from '@skerry/apiserver'
import {
  asError,
  createWakeFlag,
  linkedSignal,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { consoleBounds } from '../limits-table.ts'
import { fleetPath } from '../fleet/fleet-route.ts'
import { linesOf, TooLargeError, wholeText } from './read-lines.ts'
import { RefusedError, refusedBy, refusedFor } from './refused-error.ts'
import { readList, shownObject, shownRow, type ShownList } from './shown-object.ts'
import { TabSlowError, type WatchOut } from './watch-out.ts'

export interface WatchedListDeps {
  /** Sends a GET of the tab's user. The signal ends it. */
  readonly ask: (target: string, accept: string, signal: AbortSignal) => Promise<ApiAnswer>
  readonly out: WatchOut
  readonly clock: Pick<Clock, 'sleep' | 'monotonicMs' | 'setTimer'>
  readonly random: Random
  readonly log: Logger
}

export interface WatchAsked {
  readonly id: number
  readonly path: string
  readonly isTable: boolean
  readonly resourceVersion: string | undefined
}

const bounds = consoleBounds.watchedList

/**
 * Sends a list and then its changes, until the signal aborts or the server refuses. It begins again where it was after
 * every break, and with a new snapshot if that is no longer known, or the tab was too slow.
 */
export async function watchList(
  asked: WatchAsked,
  deps: WatchedListDeps,
  signal: AbortSignal,
): Promise<void> {
  const { out, clock, random } = deps
  const { id } = asked
  const isFleet = asked.path === fleetPath
  let at = isFleet ? undefined : asked.resourceVersion
  let isProven = at === undefined
  let retryMs: number = bounds.retryMsMin
  for (;;) {
    const beganMs = clock.monotonicMs()
    let pauseMs = retryMs
    try {
      if (isFleet) await followFleet(asked, deps, signal)
      else {
        if (at !== undefined && !isProven) at = await knownRevision(at, asked, deps, signal)
        isProven = true
        at ??= await sendSnapshot(asked, deps, signal)
        at = await follow(asked, { ...deps, from: at }, signal)
      }
      // A server ends each watch after a while.
      pauseMs = clock.monotonicMs() - beganMs > retryMs ? 0 : retryMs
      retryMs = bounds.retryMsMin
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof TabSlowError) {
        at = undefined
        out.note({ id, state: 'stale', message: error.message })
        await out.ready(signal)
        continue
      }
      const refused = error instanceof RefusedError ? error : brokenBy(error, deps)
      if (refused.status.code === 410) at = undefined
      else if (!refused.mayPass) return out.note({ id, error: refused.status })
      else {
        pauseMs = Math.max(retryMs, refused.retryAfterMs)
        out.note(noteOf(id, refused, pauseMs))
        retryMs = Math.min(bounds.retryMsMax, retryMs * 2)
      }
    }
    if (pauseMs > 0) await clock.sleep(pauseMs * (0.75 + random.next() / 2), signal)
  }
}

/** An answer that breaks off is asked for again. */
function brokenBy(error: unknown, { log }: WatchedListDeps): RefusedError {
  if (error instanceof TooLargeError) return refusedFor(413, `the answer has ${error.message}`)
  log.debug('Watch of a tab broke off', { error: asError(error) })
  return refusedFor(503, 'the connection broke off')
}

function noteOf(id: number, { status, isAway }: RefusedError, pauseMs: number): JsonObject {
  const message = status.message ?? ''
  const state = isAway ? 'away' : 'stale'
  return { id, state, message, retryAfter: Math.ceil(pauseMs / 1_000) }
}

const accepts = Object.freeze({
  objects: 'application/json',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
})

function targetOf({ path, isTable }: WatchAsked, query: Record<string, string>): string {
  const [place = '', given = ''] = path.split('?', 2)
  const parameters = new URLSearchParams(given)
  for (const name of ['watch', 'continue', 'resourceVersion', 'limit']) parameters.delete(name)
  if (isTable) {
    parameters.set('includeObject', 'Metadata')
    // Our servers then leave most of the bytes out; others know no such parameter.
    parameters.set('omitManagedFields', 'true')
  }
  for (const [name, value] of Object.entries(query)) parameters.set(name, value)
  return `${place}?${parameters.toString()}`
}

function acceptOf({ isTable }: WatchAsked): string {
  return isTable ? accepts.table : accepts.objects
}

/** Sends the list in parts. Resolves with its revision. */
async function sendSnapshot(
  asked: WatchAsked,
  deps: WatchedListDeps,
  signal: AbortSignal,
): Promise<string> {
  const { id, isTable } = asked
  using inner = linkedSignal(signal)
  const limit = isTable ? bounds.pageRows : bounds.pageObjects
  try {
    let page = await askPart(asked, { limit, next: '' }, deps, inner.signal)
    for (let part = 0; ; part += 1) {
      const { items: snapshot, columns, resourceVersion, continueToken: next } = page.list
      const last = next === ''
      // The server makes the next part while this one is sent.
      const coming = last
        ? undefined
        : askPart(asked, { limit: page.limit, next }, deps, inner.signal)
      coming?.catch(() => undefined)
      const head = part === 0 && columns !== undefined ? { columns } : {}
      await deps.out.data({ id, snapshot, ...head, resourceVersion, part, last }, signal)
      if (coming === undefined) return resourceVersion
      page = await coming
    }
  } finally {
    inner.abort(new Error('the snapshot is over'))
  }
}

interface PartAsked {
  readonly limit: number
  readonly next: string
}

/** Asks for one part of a list, and for a smaller one if it is too large. Resolves with the limit that was small enough. */
async function askPart(
  asked: WatchAsked,
  { limit, next }: PartAsked,
  deps: WatchedListDeps,
  signal: AbortSignal,
): Promise<{ readonly list: ShownList; readonly limit: number }> {
  const page = { limit: String(limit), ...(next === '' ? {} : { continue: next }) }
  try {
    return { list: await askPage(asked, page, deps, signal), limit }
  } catch (error) {
    if (!(error instanceof TooLargeError) || limit <= bounds.pageObjectsMin) throw error
    return askPart(asked, { limit: Math.ceil(limit / 2), next }, deps, signal)
  }
}

const silence = `there is no answer after ${bounds.quietMs / 1_000} s`

/** Throws TooLargeError and RefusedError. */
async function askPage(
  asked: WatchAsked,
  page: Record<string, string>,
  { ask, out, clock }: WatchedListDeps,
  signal: AbortSignal,
) {
  using inner = linkedSignal(signal)
  // A cluster that hangs may still answer, but the page should not look as if it would do so soon.
  using _quiet = clock.setTimer(bounds.quietMs, () =>
    out.note({ id: asked.id, state: 'away', message: silence }),
  )
  const answer = await ask(targetOf(asked, page), acceptOf(asked), inner.signal)
  if (answer.status !== 200) throw await refusedBy(answer)
  try {
    const list = readList(await jsonOf(answer))
    if (!list) throw refusedFor(400, 'only lists of objects can be watched')
    return list
  } finally {
    inner.abort(new Error('the answer is read'))
  }
}

/**
 * Returns the revision of a tab if the server has reached it. A server that was restored may be behind it, and a watch from
 * there would be silent for a long time.
 */
async function knownRevision(
  at: string,
  asked: WatchAsked,
  { ask }: Pick<WatchedListDeps, 'ask'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  using inner = linkedSignal(signal)
  const answer = await ask(targetOf(asked, { limit: '1' }), acceptOf(asked), inner.signal)
  if (answer.status !== 200) throw await refusedBy(answer)
  const now = readList(await jsonOf(answer))?.resourceVersion ?? ''
  inner.abort(new Error('the answer is read'))
  const isBehind = /^\d+$/.test(now) && BigInt(now) < BigInt(at)
  return isBehind ? undefined : at
}

async function jsonOf(answer: ApiAnswer): Promise<unknown> {
  requireJson(answer)
  try {
    return JSON.parse(await wholeText(answer.body, bounds.pageBytesMax))
  } catch (error) {
    if (error instanceof SyntaxError) throw refusedFor(502, 'the answer is not JSON')
    throw error
  }
}

/** An edge may answer with anything. */
function requireJson({ headers }: ApiAnswer): void {
  const type = String(headers['content-type'] ?? '')
  if (!/^application\/(?:json|x-ndjson)\b/.test(type))
    throw refusedFor(502, 'the answer is not JSON')
}

const letters: Readonly<Record<string, string>> = Object.freeze({
  ADDED: 'A',
  MODIFIED: 'M',
  DELETED: 'D',
})

interface EventFacts {
  readonly resourceVersion: string
  /** Its size on the wire. */
  readonly bytes: number
}

/** Events that wait for their frame. */
class Gathered {
  readonly #wake = createWakeFlag()
  #events: JsonObject[] = []
  #bytes = 0
  resourceVersion: string
  isDirty = false

  constructor(resourceVersion: string) {
    this.resourceVersion = resourceVersion
  }

  /** No more is read until the tab has taken what is there. */
  get isFull(): boolean {
    return this.#events.length >= bounds.gatheredMax || this.#bytes >= bounds.gatheredBytesMax
  }

  add(event: JsonObject | undefined, { resourceVersion, bytes }: EventFacts): void {
    if (event) this.#events.push(event)
    this.#bytes += bytes
    if (resourceVersion !== '') this.resourceVersion = resourceVersion
    this.isDirty = true
    this.#wake.raise()
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (!this.isDirty) await this.#wake.wait(signal)
  }

  take(): JsonObject[] {
    this.isDirty = false
    this.#bytes = 0
    return this.#events.splice(0)
  }
}

/** Sends changes from that revision on. Resolves with the last revision when the server ends the watch. */
async function follow(
  asked: WatchAsked,
  { ask, out, clock, from }: WatchedListDeps & { readonly from: string },
  signal: AbortSignal,
): Promise<string> {
  const { id, isTable } = asked
  using inner = linkedSignal(signal)
  const query = { watch: '1', allowWatchBookmarks: '1', resourceVersion: from }
  const answer = await ask(targetOf(asked, query), acceptOf(asked), inner.signal)
  if (answer.status !== 200) throw await refusedBy(answer)
  requireJson(answer)
  out.note({ id, state: 'live' })
  const gathered = new Gathered(from)
  const send = async (): Promise<void> => {
    const events = gathered.take()
    await out.data({ id, events, resourceVersion: gathered.resourceVersion }, signal)
  }
  const sending = (async () => {
    for (;;) {
      await gathered.wait(inner.signal)
      await clock.sleep(bounds.gatherMs, inner.signal)
      await send()
    }
  })()
  let failure: unknown
  sending.catch((error: unknown) => {
    if (!inner.signal.aborted) failure = error
    inner.abort(error)
  })
  try {
    for await (const lines of linesOf(answer.body, bounds.eventBytesMax)) {
      for (const line of lines) takeEvent(line, isTable, gathered)
      while (gathered.isFull) await clock.sleep(bounds.gatherMs, inner.signal)
    }
    inner.signal.throwIfAborted()
    if (gathered.isDirty) await send()
    return gathered.resourceVersion
  } catch (error) {
    throw failure ?? error
  } finally {
    inner.abort(new Error('the watch has ended'))
    await sending.catch(() => undefined)
  }
}

function takeEvent(line: string, isTable: boolean, gathered: Gathered): void {
  const event: unknown = parsed(line)
  if (!isJsonObject(event)) throw refusedFor(502, 'an event is not JSON')
  const { type, object } = event
  if (type === 'ERROR') throw new RefusedError(isJsonObject(object) ? object : {})
  const shown = isTable && isTableObject(object) ? rowOf(object) : object
  const { metadata } = isJsonObject(shown) ? shown : {}
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined
  const letter = letters[String(type)]
  const o = isTable ? (shownRow(shown) ?? plainRow(shown)) : shownObject(shown)
  gathered.add(letter === undefined || !o ? undefined : { t: letter, o }, {
    resourceVersion: textOf(version) || revisionOf(shown),
    bytes: line.length,
  })
}

function plainRow(value: unknown): JsonObject | undefined {
  return isJsonObject(value) && 'cells' in value ? value : undefined
}

function isTableObject(value: unknown): boolean {
  return isJsonObject(value) && value['kind'] === 'Table'
}

/** An event of a Table has one row. */
function rowOf(table: unknown): unknown {
  const rows = isJsonObject(table) ? table['rows'] : undefined
  return Array.isArray(rows) ? rows[0] : undefined
}

function revisionOf(row: unknown): string {
  const object = isJsonObject(row) ? row['object'] : undefined
  const metadata = isJsonObject(object) ? object['metadata'] : undefined
  return isJsonObject(metadata) ? textOf(metadata['resourceVersion']) : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The caller reports it.
    return undefined
  }
}

/** The fleet's own stream says the same in other words. */
async function followFleet(
  { id, path }: WatchAsked,
  { ask, out }: WatchedListDeps,
  signal: AbortSignal,
): Promise<void> {
  using inner = linkedSignal(signal)
  const answer = await ask(`${path}?watch=1`, accepts.objects, inner.signal)
  if (answer.status !== 200) throw await refusedBy(answer)
  const known = new Set<string>()
  try {
    for await (const lines of linesOf(answer.body, bounds.pageBytesMax)) {
      for (const line of lines) await sendFleet(id, { line: parsed(line), known }, out, signal)
    }
  } finally {
    inner.abort(new Error('the watch has ended'))
  }
}

async function sendFleet(
  id: number,
  { line, known }: { readonly line: unknown; readonly known: Set<string> },
  out: WatchOut,
  signal: AbortSignal,
): Promise<void> {
  // The lines of fleet-route.ts.
  const { type, clusters = [], changed = [], gone = [] } = line as FleetLine
  if (type === 'snapshot') {
    await out.data({ id, snapshot: clusters, resourceVersion: '', part: 0, last: true }, signal)
    out.note({ id, state: 'live' })
    for (const { n } of clusters) known.add(n)
  } else if (type === 'delta') {
    const events = [
      ...changed.map((o) => ({ t: known.has(o.n) ? 'M' : 'A', o })),
      ...gone.map((n) => ({ t: 'D', o: { n } })),
    ]
    for (const { n } of changed) known.add(n)
    for (const n of gone) known.delete(n)
    await out.data({ id, events, resourceVersion: '' }, signal)
  }
}

interface FleetLine {
  readonly type: string
  readonly clusters?: readonly Named[]
  readonly changed?: readonly Named[]
  readonly gone?: readonly string[]
}

interface Named extends JsonObject {
  readonly n: string
}
