import {
  abortReason,
  asError,
  createBackoff,
  systemRandom,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { CompactedError, type WatchBatch } from '../store.ts'
import { StoreClosedError } from '../store-errors.ts'
import type { EtcdChannel } from './etcd-channel.ts'
import type { EtcdKeys } from './etcd-keys.ts'
import type { WireEvent, WireWatch } from './etcd-schema-table.ts'
import { storeBounds } from '../limits-table.ts'

export interface EtcdWatchDeps {
  readonly channel: EtcdChannel
  readonly keys: EtcdKeys
  readonly clock: Clock
  readonly log: Logger
  readonly random?: Random
}

export interface EtcdWatchOptions {
  /** The revision to start after (exclusive). */
  readonly afterRevision: number
  /** Called with each connection. The function it receives asks etcd for its progress. */
  readonly onOpen?: (askProgress: () => void) => void
}

/**
 * Yields all changes of a store after a revision until the signal aborts. A broken connection is
 * reopened at the revision where it broke, so that nothing is lost or repeated. Throws
 * CompactedError if etcd no longer has that revision. An empty batch reports progress.
 */
export async function* watchEtcd(
  options: EtcdWatchOptions,
  deps: EtcdWatchDeps,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, never> {
  const { clock, log, random = systemRandom } = deps
  const backoff = createBackoff(storeBounds.etcdWatch.retry, random)
  let { afterRevision } = options
  for (;;) {
    try {
      for await (const batch of watchOnce({ ...options, afterRevision }, deps, signal)) {
        backoff.reset()
        afterRevision = batch.revision
        yield batch
      }
    } catch (error) {
      if (signal.aborted) throw abortReason(signal)
      if (error instanceof CompactedError || error instanceof StoreClosedError) throw error
      const cause = asError(error)
      log.info('Watch on etcd broke, continuing it', { error: cause, afterRevision })
    }
    await clock.sleep(backoff.nextMs(), signal)
  }
}

async function* watchOnce(
  { afterRevision, onOpen }: EtcdWatchOptions,
  { channel, keys }: EtcdWatchDeps,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, void> {
  const stream = await channel.stream('Watch', signal)
  const onAbort = (): void => stream.cancel()
  signal.addEventListener('abort', onAbort, { once: true })
  // The handler stays after the loop's end, because a cancelled stream fails once more.
  stream.on('error', () => undefined)
  try {
    signal.throwIfAborted()
    const startRevision = afterRevision + 1
    stream.write({
      createRequest: { ...keys.rangeOf(''), startRevision, prevKv: true, fragment: true },
    })
    onOpen?.(() => void stream.write({ progressRequest: {} }))
    let held: readonly WireEvent[] = []
    for await (const message of stream) {
      // The schema table decodes this as the answer of Watch.
      const answer = message as WireWatch
      if (answer.compactRevision > 0) throw new CompactedError(answer.compactRevision)
      if (answer.canceled) throw new Error('Cannot watch: etcd ended the watch')
      if (answer.created) continue
      const { whole, rest } = wholeRevisions([...held, ...answer.events], answer.fragment)
      held = rest
      const last = whole.at(-1)
      if (last) {
        yield { events: whole.map((each) => keys.eventOf(each)), revision: last.kv.modRevision }
      } else if (answer.events.length === 0) {
        yield { events: [], revision: answer.header.revision }
      }
    }
    channel.turnAwayFrom(stream)
  } catch (error) {
    if (!(error instanceof CompactedError) && !signal.aborted) channel.turnAwayFrom(stream)
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
    stream.cancel()
  }
}

/**
 * Splits off the newest revision if the answer has further parts: it may be incomplete and waits
 * for the next part.
 */
export function wholeRevisions(
  events: readonly WireEvent[],
  isPart: boolean,
): { whole: readonly WireEvent[]; rest: readonly WireEvent[] } {
  if (!isPart) return { whole: events, rest: [] }
  const newest = events.at(-1)?.kv.modRevision
  const cut = events.findIndex(({ kv }) => kv.modRevision === newest)
  return { whole: events.slice(0, cut), rest: events.slice(cut) }
}
