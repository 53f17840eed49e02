import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createMetrics,
  seededRandom,
  silentLogger,
  simulatedClock,
  type Logger,
} from '@skerry/base'
import type { ApiRequest } from './contract/exchange.ts'
import { jsonAnswer } from './contract/exchange.ts'
import { RequestBodies } from './http/request-bodies.ts'
import { apiServerLimits } from './limits-table.ts'
import type { LastingRequest } from './request/lasting-requests.ts'
import { createPipeline } from './request/pipeline.ts'
import { createRequestMetrics } from './request/request-metrics.ts'

type Deps = Parameters<typeof createPipeline>[0]

/** Creates a pipeline with one user who may do everything. */
function pipelineOf(
  followed: Set<LastingRequest>,
  more: Pick<Deps, 'serve'> & { readonly log?: Logger; readonly onAuthenticate?: () => void },
): ReturnType<typeof createPipeline> {
  return createPipeline({
    access: {
      authenticators: [
        {
          async authenticate() {
            more.onAuthenticate?.()
            return { user: { name: 'olga', groups: [], extra: {} } }
          },
        },
      ],
      authorizers: [{ authorize: async () => ({ verdict: 'allow', reason: '' }) }],
      admission: [],
      subresources: {},
    },
    limits: apiServerLimits,
    bodies: new RequestBodies(apiServerLimits, simulatedClock()),
    clock: simulatedClock(),
    random: seededRandom(1),
    log: more.log ?? silentLogger,
    records: { metrics: createRequestMetrics(createMetrics()), audit: () => undefined },
    paths: { isLongRunning: () => true },
    lasting: {
      add(request) {
        followed.add(request)
        return { [Symbol.dispose]: () => void followed.delete(request) }
      },
      run: () => new Promise<never>(() => undefined),
    },
    serve: more.serve,
    upgrade: async () => undefined,
  })
}

function requestOf(client: AbortController): ApiRequest {
  return {
    method: 'GET',
    target: '/api/v1/pods?watch=1',
    headers: {},
    fields: () => [],
    body: (async function* () {})(),
    peer: { type: 'socket', address: '', certificates: [], isCertificateBad: false },
    signal: client.signal,
    abort: (reason) => client.abort(reason),
  }
}

test('a client that leaves during its authentication is not followed any further', async () => {
  const client = new AbortController()
  const followed = new Set<LastingRequest>()
  const pipeline = pipelineOf(followed, {
    onAuthenticate: () => client.abort(new Error('the client left')),
    serve: async () => jsonAnswer(200, {}),
  })
  assert.equal((await pipeline.onRequest(requestOf(client))).status, 200)
  assert.equal(followed.size, 0)
})

test('a client that leaves while it waits for its answer is not logged as an error', async () => {
  for (const [isGone, expected] of [
    [true, []],
    [false, ['Request failed']],
  ] as const) {
    const errors: string[] = []
    const log: Logger = { ...silentLogger, error: (message) => void errors.push(message) }
    const client = new AbortController()
    const pipeline = pipelineOf(new Set(), {
      log,
      async serve() {
        if (isGone) client.abort(new Error('Client closed the connection'))
        throw new Error('Client closed the connection')
      },
    })
    assert.equal((await pipeline.onRequest(requestOf(client))).status, 500)
    assert.deepEqual(errors, expected)
  }
})
