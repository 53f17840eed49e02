import { randomInt } from 'node:crypto'
import {
  abortReason,
  ExpectedError,
  exitCodes,
  whenAborted,
  withTimeout,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import {
  LeaseNotFoundError,
  StoreClosedError,
  StoreFullError,
  StoreUnavailableError,
} from '../store-errors.ts'
import { validateLimits } from '../validate-limits.ts'
import { CompactedError, FutureRevisionError } from '../store.ts'
import type {
  Entry,
  ListOptions,
  ListResult,
  Store,
  WatchBatch,
  WatchOptions,
  Write,
  WriteResult,
} from '../store.ts'
import { checkWrite, refusingKey } from '../write-plan.ts'
import { EtcdChannel, EtcdError, etcdCodes, type EtcdEndpoints } from './etcd-channel.ts'
import { EtcdFeed } from './etcd-feed.ts'
import { EtcdKeys } from './etcd-keys.ts'
import type { WireHeader, WireRange, WireTxn } from './etcd-schema-table.ts'
import { saveEtcdSnapshot } from './etcd-snapshot.ts'
import { canTellProgress } from './etcd-version.ts'
import { watchEtcd, type EtcdWatchDeps } from './etcd-watch.ts'
import { etcdCallDefaults, storeBounds, type StoreLimits } from '../limits-table.ts'

export interface EtcdStoreOptions extends EtcdEndpoints {
  /** The prefix of all keys, e.g. /skerry/hub. Stores that share an etcd have different ones. */
  readonly prefix: string
  readonly limits?: Partial<StoreLimits>
}

export interface EtcdStoreDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly random?: Random
}

const { valueBytesMax, companionsMax, leaseIdMax, lastAnswerMs } = storeBounds.etcdStore

/**
 * Opens the store of several servers: all state is in etcd (3.4 or newer), and each process has one
 * watch on it. Throws ExpectedError if etcd does not answer or cannot be used.
 */
export async function openEtcdStore(
  options: EtcdStoreOptions,
  deps: EtcdStoreDeps,
  signal: AbortSignal,
): Promise<EtcdStore> {
  const limits = validateLimits({ valueBytesMax, companionsMax, ...options.limits })
  const keys = new EtcdKeys(options.prefix)
  using stack = new DisposableStack()
  const channel = stack.use(new EtcdChannel(options, deps.clock))
  try {
    const { version } = await channel.read<{ version: string }>('Status', {}, signal)
    const parts = { ...deps, channel, keys }
    const revision = await askRevision(parts, signal)
    const newest = (): Promise<number> => askRevision(parts, signal)
    const tellsProgress = canTellProgress(version)
    const feed = new EtcdFeed({ limits, revision, tellsProgress, newest }, parts)
    stack.move()
    return new EtcdStore({ ...parts, limits, feed })
  } catch (error) {
    if (!(error instanceof StoreUnavailableError || error instanceof EtcdError)) throw error
    const text = `${error.message}; start it, or check --etcd-servers and the etcd certificate options`
    throw new ExpectedError(text, exitCodes.unreachable, { cause: error })
  }
}

interface EtcdParts extends EtcdWatchDeps {
  readonly limits: StoreLimits
  readonly feed: EtcdFeed
}

export class EtcdStore implements Store {
  readonly #parts: EtcdParts
  readonly #scope = new AbortController()
  /** The last request for the newest revision; the next one waits for it. */
  #asking: Promise<unknown> = Promise.resolve()
  #nextRevision: Promise<number> | undefined
  #watchers = 0
  #isClosed = false

  /** For openEtcdStore, which has connected to etcd. */
  constructor(parts: EtcdParts) {
    this.#parts = parts
  }

  /** Simultaneous callers share one request that begins after their calls. */
  revision(): Promise<number> {
    this.#nextRevision ??= this.#asking.then(() => {
      this.#nextRevision = undefined
      const answer = this.#askRevision()
      this.#asking = answer.catch(() => undefined)
      return answer
    })
    return this.#nextRevision
  }

  async compactedRevision(): Promise<number> {
    const { keys, channel } = this.#parts
    try {
      const oldest = { ...keys.rangeOf(''), countOnly: true, revision: 1 }
      await channel.read('Range', oldest, this.#scope.signal)
      return 0
    } catch (error) {
      if (!isOutOfRange(error)) throw error
    }
    try {
      // etcd reports the compacted revision to watches only.
      for await (const _batch of watchEtcd({ afterRevision: 0 }, this.#parts, this.#scope.signal)) {
        return 0
      }
    } catch (error) {
      if (error instanceof CompactedError) return error.compactedRevision
      throw error
    }
    return 0
  }

  async get(key: string, revision = 0): Promise<{ revision: number; entry?: Entry }> {
    const { keys } = this.#parts
    const answer = await this.#range({ key: keys.keyOf(key), revision }, revision)
    const [found] = answer.kvs
    const at = revision || answer.header.revision
    return found ? { revision: at, entry: keys.entryOf(found) } : { revision: at }
  }

  async list(options: ListOptions): Promise<ListResult> {
    const { keys, limits } = this.#parts
    const limit = options.limit || Infinity
    const entries: Entry[] = []
    let { after = '', revision = 0 } = options
    let slice = limits.listSliceEntries
    let remaining = 0
    do {
      const want = Math.min(slice, limit - entries.length)
      const range = { ...keys.rangeOf(options.prefix, after), revision, limit: want }
      const answer = await this.#range(range, revision).catch((error: unknown) => {
        // The page is larger than the limit of one answer.
        if (!isExhausted(error) || want === 1) throw error
        slice = Math.max(1, Math.floor(want / 2))
      })
      if (!answer) continue
      revision ||= answer.header.revision
      for (const each of answer.kvs) entries.push(keys.entryOf(each))
      after = entries.at(-1)?.key ?? after
      remaining = answer.count - answer.kvs.length
      if (remaining === 0) break
    } while (entries.length < limit)
    return { revision, entries, more: remaining > 0, remaining }
  }

  async write(write: Write): Promise<WriteResult> {
    checkWrite(write, this.#parts.limits)
    try {
      return await this.#transact(write)
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.isSent) return this.#settle(write, error)
      if (error instanceof EtcdError) throw refusalOf(write, error)
      throw error
    }
  }

  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchBatch> {
    this.#assertOpen()
    // "From now on" means from this call, even if the first read comes later.
    const after = options.afterRevision || this.revision()
    if (after instanceof Promise) after.catch(() => undefined)
    return this.#batches(options, after, signal)
  }

  async compact(revision: number): Promise<void> {
    try {
      await this.#parts.channel.write('Compact', { revision }, this.#scope.signal)
    } catch (error) {
      throw isOutOfRange(error) ? await this.#rangeError(revision) : error
    }
  }

  async grantLease(ttlSeconds: number): Promise<{ leaseId: number }> {
    if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < 1) {
      throw new RangeError(
        `Cannot grant lease: ${ttlSeconds} is not a whole number of seconds above 0`,
      )
    }
    const leaseId = randomInt(1, leaseIdMax)
    const request = { ttl: ttlSeconds, id: leaseId }
    await this.#parts.channel.write('LeaseGrant', request, this.#scope.signal)
    return { leaseId }
  }

  async keepLeaseAlive(leaseId: number): Promise<{ ttlSeconds: number }> {
    const { channel, clock } = this.#parts
    const stream = await channel.stream('LeaseKeepAlive', this.#scope.signal)
    stream.on('error', () => undefined)
    // A member that was cut off answers nothing, and the lease would run out meanwhile.
    using _timer = clock.setTimer(etcdCallDefaults.callMs, () => channel.turnAwayFrom(stream))
    const onAbort = (): void => stream.cancel()
    this.#scope.signal.addEventListener('abort', onAbort, { once: true })
    try {
      stream.write({ id: leaseId })
      for await (const message of stream) {
        // The schema table decodes this. A lease that is gone has no time left.
        const { ttl } = message as { ttl: number }
        if (ttl <= 0) throw new LeaseNotFoundError(leaseId)
        return { ttlSeconds: ttl }
      }
    } catch (error) {
      if (error instanceof LeaseNotFoundError) throw error
      channel.turnAwayFrom(stream)
      const options = { cause: error, isSent: true }
      throw new StoreUnavailableError('Cannot reach etcd: LeaseKeepAlive failed', options)
    } finally {
      this.#scope.signal.removeEventListener('abort', onAbort)
      stream.cancel()
    }
    throw new LeaseNotFoundError(leaseId)
  }

  async revokeLease(leaseId: number): Promise<void> {
    try {
      await this.#parts.channel.write('LeaseRevoke', { id: leaseId }, this.#scope.signal)
    } catch (error) {
      throw isNotFound(error) ? new LeaseNotFoundError(leaseId) : error
    }
  }

  /** Saves a snapshot of the whole etcd, which is not older than the revision. Only etcd's own tools restore it. */
  async backup(targetPath: string): Promise<{ bytes: number; revision: number }> {
    const { channel, clock } = this.#parts
    return saveEtcdSnapshot(channel, targetPath, { clock, signal: this.#scope.signal })
  }

  /**
   * Waits for the signal, by which the user of the store begins to stop, and then asks etcd once. If that answers, the
   * last calls are as any others. If not, they fail at once from then on, so that nobody waits for an etcd that is gone.
   */
  async untilStopping(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => whenAborted(signal, resolve))
    if (this.#scope.signal.aborted) return
    const { clock, channel, keys } = this.#parts
    const message = `no answer in ${lastAnswerMs} ms`
    try {
      await withTimeout({ ms: lastAnswerMs, message, clock }, this.#scope.signal, (scope) =>
        channel.write('Range', newestOf(keys), scope),
      )
    } catch (cause) {
      const text = 'Cannot reach etcd: it did not answer when this process began to stop'
      this.#scope.abort(new StoreUnavailableError(text, { cause, isSent: true }))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const closed = new StoreClosedError()
    this.#scope.abort(closed)
    this.#parts.feed.close(closed)
    await this.#parts.feed[Symbol.asyncDispose]()
    this.#parts.channel[Symbol.dispose]()
  }

  async #askRevision(): Promise<number> {
    const revision = await askRevision(this.#parts, this.#scope.signal)
    this.#parts.feed.expect(revision)
    return revision
  }

  async #range(request: object, asked: number): Promise<WireRange> {
    try {
      return await this.#parts.channel.read<WireRange>('Range', request, this.#scope.signal)
    } catch (error) {
      throw isOutOfRange(error) ? await this.#rangeError(asked) : error
    }
  }

  /** etcd answers the same in both cases; its newest revision shows which one it is. */
  async #rangeError(asked: number): Promise<Error> {
    const newest = await this.revision()
    if (asked > newest) return new FutureRevisionError(asked, newest)
    return new CompactedError(await this.compactedRevision())
  }

  async #transact(write: Write): Promise<WriteResult> {
    const { keys, channel } = this.#parts
    const { leaseId = 0, companions = [], requires = [] } = write
    const all: readonly Write[] = [write, ...companions]
    const expecting = all.filter(({ expectRevision }) => expectRevision !== undefined)
    const isKeyAt = (key: string, modRevision = 0) => ({
      ...isAt,
      key: keys.keyOf(key),
      modRevision,
    })
    const request = {
      compare: [
        ...expecting.map(({ key, expectRevision }) => isKeyAt(key, expectRevision)),
        ...requires.map(({ key, revision }) => isKeyAt(key, revision)),
      ],
      success: all.map(({ key: name, value }, at) => {
        const key = keys.keyOf(name)
        return value
          ? { requestPut: { key, value, lease: at === 0 ? leaseId : 0, prevKv: true } }
          : { requestDeleteRange: { key, prevKv: true } }
      }),
      failure: [...all, ...requires].map(({ key }) => ({
        requestRange: { key: keys.keyOf(key) },
      })),
    }
    const answer = await channel.write<WireTxn>('Txn', request, this.#scope.signal)
    return this.#resultOf(write, answer)
  }

  #resultOf(write: Write, { header, succeeded, responses }: WireTxn): WriteResult {
    const { keys } = this.#parts
    const { revision } = header
    const [first] = responses
    if (succeeded) {
      const found = first?.responsePut?.prevKv ?? first?.responseDeleteRange?.prevKvs[0]
      const applied = { isApplied: true, revision } as const
      return found ? { ...applied, previous: keys.entryOf(found) } : applied
    }
    const found = first?.responseRange?.kvs[0]
    const refused = {
      isApplied: false,
      revision,
      ...(found ? { current: keys.entryOf(found) } : {}),
    } as const
    const { companions = [], expectRevision, requires = [] } = write
    const isOwn = expectRevision !== undefined && expectRevision !== (found?.modRevision ?? 0)
    if (isOwn) return refused
    const revisions = new Map(
      [...companions, ...requires].map(({ key }, at) => [
        key,
        responses[at + 1]?.responseRange?.kvs[0]?.modRevision ?? 0,
      ]),
    )
    const refusedBy = refusingKey(write, (key) => revisions.get(key) ?? 0)
    return refusedBy === undefined ? refused : { ...refused, refusedBy }
  }

  /**
   * Handles a write whose answer was lost. A write with an expectation can be repeated, because it can apply only once.
   * If the second try is refused, the first one may have applied. A new object has an id of its own, so an equal value
   * is the one that was sent. Two writers may change an object to the same bytes, and both may not succeed.
   */
  async #settle(write: Write, lost: StoreUnavailableError): Promise<WriteResult> {
    const { expectRevision, value: sent } = write
    if (expectRevision === undefined || sent === undefined) throw lost
    const result = await this.#transact(write)
    // A companion alone that refuses was not changed by the first try, so that did not apply.
    if (result.isApplied || !result.current || result.refusedBy !== undefined) return result
    const { value, modRevision } = result.current
    if (Buffer.compare(value, sent) !== 0) return result
    if (expectRevision > 0) throw lost
    return { isApplied: true, revision: modRevision }
  }

  async *#batches(
    options: WatchOptions,
    after: number | Promise<number>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchBatch, void> {
    const { limits, feed } = this.#parts
    if (this.#watchers >= limits.watchersMax) {
      throw new RangeError(
        `Cannot watch: ${this.#watchers} watchers are open already, which is the limit`,
      )
    }
    this.#watchers += 1
    try {
      const afterRevision = await after
      if (signal.aborted) throw abortReason(signal)
      this.#assertOpen()
      yield* feed.batches({ ...options, afterRevision }, signal)
    } finally {
      this.#watchers -= 1
    }
  }

  #assertOpen(): void {
    if (this.#scope.signal.aborted) throw abortReason(this.#scope.signal)
  }
}

/** EQUAL and MOD, as in the schema table. */
const isAt = Object.freeze({ result: 0, target: 2 })

/** A linearizable read: at least as new as every write that was acknowledged before. */
async function askRevision(
  { keys, channel }: Pick<EtcdWatchDeps, 'keys' | 'channel'>,
  signal: AbortSignal,
): Promise<number> {
  const { header } = await channel.read<{ header: WireHeader }>('Range', newestOf(keys), signal)
  return header.revision
}

function newestOf(keys: EtcdKeys): object {
  return { key: keys.keyOf('/'), countOnly: true }
}

function refusalOf({ leaseId = 0 }: Write, error: EtcdError): Error {
  if (isNotFound(error)) return new LeaseNotFoundError(leaseId)
  return isExhausted(error) ? new StoreFullError(error.message, { cause: error }) : error
}

function isOutOfRange(error: unknown): boolean {
  return error instanceof EtcdError && error.code === etcdCodes.outOfRange
}

function isNotFound(error: unknown): boolean {
  return error instanceof EtcdError && error.code === etcdCodes.notFound
}

function isExhausted(error: unknown): boolean {
  return error instanceof EtcdError && error.code === etcdCodes.exhausted
}
