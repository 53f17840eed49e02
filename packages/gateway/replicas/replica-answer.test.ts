import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BadMessageError,
  isSwitched,
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  TunnelUnavailableError,
  type TunnelRequest,
  type TunnelResponse,
} from '@skerry/tunnel'
import { createReplicaHandler, fromReplica, readJson, toReplica } from './replica-answer.ts'

const nowhere = new AbortController().signal
const request: TunnelRequest = { method: 'GET', path: '/api/v1/pods?limit=1', headers: { a: '1' } }

async function* piece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** Asks one replica, while the other's tunnels answer through `send`. */
function ask(send: (cluster: string, inner: TunnelRequest) => Promise<TunnelResponse>) {
  const handler = createReplicaHandler({ send, upgrade: send }, (cluster) => ({ cluster }))
  const asked = toReplica('edge', request)
  return {
    plain: async () => fromReplica('edge', await handler.onRequest(asked, nowhere)),
    upgrade: async () => fromReplica('edge', await handler.onUpgrade(asked, nowhere)),
  }
}

test('a request reaches the cluster as it was, and its answer comes back as it was', async () => {
  const seen: [string, TunnelRequest][] = []
  const answers = ask(async (cluster, inner) => {
    seen.push([cluster, inner])
    const headers = { 'content-type': 'text/plain', 'skerry-replica-answer': 'none' }
    return { status: 503, headers, body: piece('"away"') }
  })
  const answer = await answers.plain()
  assert.deepEqual(seen, [['edge', request]])
  // The cluster's own 503, though it looks like a replica's.
  assert.deepEqual([answer.status, answer.headers], [503, { 'content-type': 'text/plain' }])
  assert.equal(await readJson(answer.body), 'away')
})

const faults: readonly Error[] = [
  new TunnelUnavailableError('edge', { reason: 'the agent stops', atMs: 1_000 }),
  new TunnelUnavailableError('edge', undefined),
  new TunnelBusyError('Cannot open stream: 1000 are open'),
  new TunnelClosedError('nothing heard for 30 s', { isSent: false }),
  new TunnelClosedError('nothing heard for 30 s', { isSent: true }),
  new TunnelStreamError('Cannot go on: reset'),
  new BadMessageError('Cannot pass headers: too many', 431),
]

for (const fault of faults) {
  test(`one replica reports the error that another one met: ${fault.message}`, async () => {
    const answers = ask(async () => Promise.reject(fault))
    for (const kind of ['plain', 'upgrade'] as const) {
      await assert.rejects(answers[kind](), (error: Error) => {
        assert.equal(error.constructor, fault.constructor)
        assert.deepEqual(Object.entries(error), Object.entries(fault))
        assert.equal(error.message, fault.message)
        return true
      })
    }
  })
}

test('a path that names no cluster is refused', async () => {
  const send = async (): Promise<TunnelResponse> => assert.fail('It must not be asked')
  const handler = createReplicaHandler({ send, upgrade: send }, () => ({}))
  for (const path of ['/', '/version', '/clusters/edge', '/clusters/EDGE/version']) {
    const answer = await handler.onRequest({ ...request, path }, nowhere)
    await assert.rejects(fromReplica('edge', answer), BadMessageError)
  }
})

test('an accepted session passes unchanged', async () => {
  const { Duplex } = await import('node:stream')
  const stream = new Duplex({ read: () => undefined })
  const upgrade = async () => ({ status: 101, headers: {}, stream }) as const
  const send = async (): Promise<TunnelResponse> => assert.fail('It must not be asked')
  const handler = createReplicaHandler({ send, upgrade }, () => ({}))
  const answer = await handler.onUpgrade(toReplica('edge', request), nowhere)
  assert.ok(isSwitched(answer) && answer.stream === stream)
})
