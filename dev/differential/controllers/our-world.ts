import { linkedSignal, silentLogger, systemRandom } from '@skerry/base'
import { createCluster, type Transport } from '@skerry/client'
import {
  csrSigningController,
  namedControllers,
  rootCaPublisher,
  runControllers,
  serviceAccountTokenController,
} from '@skerry/controllers'
import type { BackgroundController } from '@skerry/controller-runtime'
import { simulatedClock, startTestApiServer, type SimulatedClock } from '@skerry/testing'
import { settleMsMax, type StoryWorld } from './story-world.ts'

/** The number of turns of the event loop without a request after which the process is idle. */
const idleTurns = 20
/**
 * The steps of simulated time. They are short so that the work of one timer is done before the next one
 * fires.
 */
const stepMs = 100
const longStepMs = 1_000

/** Starts our API server and all controllers in this process, and these further ones, in simulated time. */
export async function startOurWorld(
  further: readonly BackgroundController[] = [],
): Promise<StoryWorld & AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  // The clock starts at a whole second, so that stories and controllers that round to seconds always round by
  // the same amount.
  const clock = simulatedClock(Math.floor(Date.now() / 1_000) * 1_000)
  const api = stack.use(
    await startTestApiServer({
      withAccess: true,
      clock,
      namespaces: ['default', 'kube-system', 'kube-public', 'kube-node-lease'],
    }),
  )
  const requests = countedTransport(api.transport)
  const deps = { clock, random: systemRandom, log: silentLogger }
  const cluster = createCluster(requests.transport, { ...deps, userAgent: 'stories' })
  const scope = stack.use(linkedSignal(new AbortController().signal))
  const { authority } = api
  const ca = authority.certificatePem
  const signing = {
    clientAuthority: authority,
    servingAuthority: authority,
    durationSecondsMax: 365 * 86_400,
  }
  const all = [
    ...namedControllers('all'),
    rootCaPublisher(ca),
    serviceAccountTokenController(ca),
    csrSigningController(signing),
    ...further,
  ]
  const running = runControllers(all, { ...deps, cluster }, scope.signal)
  const ended = running.catch((error: unknown) => {
    if (!scope.signal.aborted) throw error
  })
  stack.defer(async () => {
    scope.abort(new Error('The stories are over'))
    await ended
  })
  const pass = (ms: number): Promise<void> => passTime(clock, requests, ms)
  await pass(longStepMs)
  const owned = stack.move()
  return {
    subject: api,
    now: () => clock.now(),
    pass,
    observe: () =>
      Promise.resolve({
        settle: (quietMs) =>
          settle({ clock, requests, revision: () => api.store.revision() }, quietMs),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface CountedTransport {
  readonly transport: Transport
  /** Returns the number of requests without an answer yet. */
  inFlight(): number
}

function countedTransport(transport: Transport): CountedTransport {
  let count = 0
  return {
    inFlight: () => count,
    transport: {
      async send(request, signal) {
        count += 1
        try {
          return await transport.send(request, signal)
        } finally {
          count -= 1
        }
      },
    },
  }
}

/** A request that still waits then waits for time to go by. */
const turnsMax = 5_000

async function untilIdle(requests: CountedTransport): Promise<void> {
  let idle = 0
  for (let turn = 0; idle < idleTurns && turn < turnsMax; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    idle = requests.inFlight() > 0 ? 0 : idle + 1
  }
}

async function passTime(
  clock: SimulatedClock,
  requests: CountedTransport,
  ms: number,
): Promise<void> {
  await untilIdle(requests)
  for (let passed = 0; passed < ms;) {
    const step = Math.min(ms - passed, ms >= 10 * longStepMs ? longStepMs : stepMs)
    await clock.advance(step)
    await untilIdle(requests)
    passed += step
  }
}

interface Parts {
  readonly clock: SimulatedClock
  readonly requests: CountedTransport
  readonly revision: () => Promise<number>
}

async function settle({ clock, requests, revision }: Parts, quietMs: number): Promise<void> {
  await untilIdle(requests)
  let last = await revision()
  let quiet = 0
  for (let passed = 0; quiet < quietMs; passed += stepMs) {
    if (passed > settleMsMax) throw new Error('Cannot settle: the controllers never rest')
    await passTime(clock, requests, stepMs)
    const now = await revision()
    quiet = now === last ? quiet + stepMs : 0
    last = now
  }
}
