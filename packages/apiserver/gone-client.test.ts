import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, seededRandom, silentLogger, simulatedClock } from '@skerry/base'
import type { ApiRequest } from './contract/exchange.ts'
import { jsonAnswer } from './contract/exchange.ts'
import { RequestBodies } from './http/request-bodies.ts'
import { apiServerLimits } from './limits-table.ts'
import type { LastingRequest } from './request/lasting-requests.ts'
import { createPipeline } from './request/pipeline.ts'
import { createRequestMetrics } from './request/request-metrics.ts'

test('a client that leaves during its authentication is not followed any further', async () => {
  const client = new AbortController()
  const followed = new Set<LastingRequest>()
  const pipeline = createPipeline({
    access: {
      authenticators: [
        {
          async authenticate() {
            client.abort(new Error('the client left'))
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
    log: silentLogger,
    records: { metrics: createRequestMetrics(createMetrics()), audit: () => undefined },
    paths: { isLongRunning: () => true },
    lasting: {
      add(request) {
        followed.add(request)
        return { [Symbol.dispose]: () => void followed.delete(request) }
      },
      run: () => new Promise<never>(() => undefined),
    },
    serve: async () => jsonAnswer(200, {}),
    upgrade: async () => undefined,
  })
  const request: ApiRequest = {
    method: 'GET',
    target: '/api/v1/pods?watch=1',
    headers: {},
    fields: () => [],
    body: (async function* () {})(),
    peer: { type: 'socket', address: '', certificates: [], isCertificateBad: false },
    signal: client.signal,
    abort: (reason) => client.abort(reason),
  }
  assert.equal((await pipeline.onRequest(request)).status, 200)
  assert.equal(followed.size, 0)
})
