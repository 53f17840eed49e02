import { StatusError, isStatusError } from '@skerry/api'
import type { Clock, Logger } from '@skerry/base'
import { apiServerBounds } from '../limits-table.ts'

/** The reason for ending a watch or session whose client has lost its right. One object serves all. */
export const accessEnded: StatusError = Object.freeze(
  new StatusError('Forbidden', 'Cannot go on: the right to it has ended'),
)

/** A request that was admitted and may go on for days. */
export interface LastingRequest {
  readonly path: string
  /** Throws Unauthorized or Forbidden if the request would not be admitted now. */
  readonly mayGoOn: () => Promise<void>
  /** Ends the request with `accessEnded`. */
  readonly end: () => void
}

export interface LastingRequests {
  /** Adds a request until the result is disposed of. */
  add(request: LastingRequest): Disposable
  /** Checks the requests repeatedly until the signal aborts. Rejects with its reason. */
  run(signal: AbortSignal): Promise<never>
}

export interface LastingRequestsDeps {
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Logger
}

const { atOnceMax } = apiServerBounds.lastingRequests
/** The share of the time between two rounds after which refused requests are checked once more. */
const secondLookShare = 0.2

/**
 * Keeps open requests and checks whether their senders still have the right to them: a token may be
 * removed, or a right taken away. All are checked every `everyMs`, not at each change: the data for
 * the decision is spread over objects, files and webhooks, and one round costs less than finding
 * out what a change concerns. A refused request is checked once more, because an authorizer may be
 * unavailable for a moment, and is then ended.
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
          log.info('Request ended, its client is no longer allowed to make it', {
            path: request.path,
          })
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

/** Other errors do not concern rights. */
function isRefusal(error: unknown): boolean {
  return isStatusError(error, 'Unauthorized') || isStatusError(error, 'Forbidden')
}
