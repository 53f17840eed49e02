import { StatusError, isStatusError } from '@skerry/api'
import type { Clock, Logger } from '@skerry/base'
import { apiServerBounds } from '../contract/limits-table.ts'

/** Why a watch or session was ended that its client may not have any more. One for all. */
export const accessEnded: StatusError = Object.freeze(
  new StatusError('Forbidden', 'Cannot go on: the right to it has ended'),
)

/** A request that was let in, and may go on for days. */
export interface LastingRequest {
  readonly path: string
  /** Throws Unauthorized or Forbidden when it would not be let in now. */
  readonly mayGoOn: () => Promise<void>
  /** To be ended with `accessEnded`. */
  readonly end: () => void
}

export interface LastingRequests {
  /** Until it is disposed of. */
  add(request: LastingRequest): Disposable
  /** Looks again and again, until the signal aborts; rejects with its reason. */
  run(signal: AbortSignal): Promise<never>
}

export interface LastingRequestsDeps {
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Logger
}

const { atOnceMax } = apiServerBounds.lastingRequests
/** Of the time between two rounds, when those that were refused are asked once more. */
const secondLookShare = 0.2

/**
 * Open requests, and whether those who sent them still may: a token that was removed, a right that was
 * taken away. All are looked at every `everyMs`, not at each change: what decides is spread over objects,
 * files and webhooks, and one round costs less than it would to know what a change concerns. One that is refused is
 * looked at once more, because whoever decides may be away for a moment, and then ended.
 */
export function createLastingRequests(
  { everyMs }: { everyMs: number },
  { clock, log }: LastingRequestsDeps,
): LastingRequests {
  const open = new Set<LastingRequest>()
  return {
    add(request) {
      open.add(request)
      return { [Symbol.dispose]: () => void open.delete(request) }
    },
    async run(signal) {
      for (;;) {
        await clock.sleep(everyMs * (1 - secondLookShare), signal)
        const refused = await refusedOf([...open])
        await clock.sleep(everyMs * secondLookShare, signal)
        for (const request of await refusedOf(refused.filter((each) => open.has(each)))) {
          open.delete(request)
          log.info('Request ended, its client may not have it any more', { path: request.path })
          request.end()
        }
      }
    },
  }
}

async function refusedOf(requests: readonly LastingRequest[]): Promise<LastingRequest[]> {
  const refused: LastingRequest[] = []
  for (let at = 0; at < requests.length; at += atOnceMax) {
    const some = requests.slice(at, at + atOnceMax)
    const verdicts = await Promise.allSettled(some.map(({ mayGoOn }) => mayGoOn()))
    for (const [index, verdict] of verdicts.entries()) {
      const request = some[index]
      if (request && verdict.status === 'rejected' && isRefusal(verdict.reason))
        refused.push(request)
    }
  }
  return refused
}

/** What else goes wrong says nothing of rights. */
function isRefusal(error: unknown): boolean {
  return isStatusError(error, 'Unauthorized') || isStatusError(error, 'Forbidden')
}
