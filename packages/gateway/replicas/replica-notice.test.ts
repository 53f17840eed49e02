import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HubReplica, TunnelHandler, TunnelRequest } from '@skerry/tunnel'
import { heldReplicasHeaders, holdsReplica, withReplicaNotices } from './replica-notice.ts'

const never = new AbortController().signal
const id = '0123456789abcdef'

/** Delivers a request; returns the notices that the agent received and the paths that reached its cluster. */
async function deliver(asked: Partial<TunnelRequest> & { notice: unknown }) {
  const heard: HubReplica[] = []
  const passed: string[] = []
  const pass: TunnelHandler['onRequest'] = async ({ path }) => {
    passed.push(path)
    return { status: 404, headers: {}, body: (async function* () {})() }
  }
  const cluster: TunnelHandler = { onRequest: pass, onUpgrade: pass }
  const handler = withReplicaNotices(cluster, (replica) => void heard.push(replica))
  const { notice, ...rest } = asked
  const body = Buffer.from(JSON.stringify(notice))
  const request = { method: 'POST', path: '/skerry/v1/hub-replica', headers: {}, body, ...rest }
  const { status } = await handler.onRequest(request, never)
  return { heard, passed, status }
}

test("only the hub's own notice is believed, and only when it makes sense", async () => {
  const good = { id, count: 2 }
  assert.deepEqual((await deliver({ notice: good })).heard, [good])
  const forged = await deliver({ notice: good, headers: { 'impersonate-user': 'mallory' } })
  assert.deepEqual([forged.heard, forged.passed.length], [[], 1])
  assert.deepEqual((await deliver({ notice: good, method: 'GET' })).heard, [])
  for (const notice of [
    null,
    7,
    { id },
    { id: 'x', count: 2 },
    { id, count: 0 },
    { id, count: 1.5 },
  ]) {
    const { heard, passed, status } = await deliver({ notice })
    assert.deepEqual([heard, passed, status], [[], [], 400], JSON.stringify(notice))
  }
  const long = { ...good, more: 'x'.repeat(2_000) }
  assert.equal((await deliver({ notice: long, body: pieces(long) })).status, 400)
})

async function* pieces(value: unknown): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(value))
}

test('a replica knows from the handshake whether the agent has a tunnel to it', () => {
  const other = 'fedcba9876543210'
  assert.deepEqual(heldReplicasHeaders([]), {})
  const headers = heldReplicasHeaders([id, other])
  assert.ok(holdsReplica(headers, id) && holdsReplica(headers, other))
  assert.ok(!holdsReplica(headers, undefined))
  assert.ok(!holdsReplica({}, id))
  assert.ok(!holdsReplica(heldReplicasHeaders([other]), id))
})
