import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  createMetrics,
  seededRandom,
  silentLogger,
  simulatedClock,
  type SimulatedClock,
} from '@skerry/base'
import type { Node } from '@skerry/api'
import type { NodeIdentity } from '@skerry/bootstrap'
import { webhookCertificate } from '@skerry/testing'
import { createNodeNeighbours, type NodeNeighbours } from './neighbours.ts'

const word = 'node.skerry.io/neighbours'

/** A node of the group; nobody listens at its port. */
function nodeOf(name: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { unit: 'shop' } },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
    },
  }
}

interface Started extends AsyncDisposable {
  readonly clock: SimulatedClock
  readonly node: NodeNeighbours
  /** The nodes whose endpoints are left out. */
  dead(): string[]
}

async function start(dataDir: string): Promise<Started> {
  const clock = simulatedClock()
  const stop = new AbortController()
  const { ca: authorityPem, cert: certificatePem, key: privateKeyPem } = await webhookCertificate()
  // The parts of an identity by which neighbours know each other.
  const identity = {
    info: { server: '', authorityPem },
    client: { current: { certificatePem, privateKeyPem } },
  } as unknown as NodeIdentity
  const random = seededRandom(1)
  const context = { clock, random, log: silentLogger, metrics: createMetrics() }
  const node = createNodeNeighbours(
    { nodeName: 'a', dataDir, label: 'unit' },
    { ...context, signal: stop.signal, identity },
  )
  let dead: string[] = []
  const listening = node.watch.onDead((found) => (dead = [...found]))
  const running = node.run(stop.signal)
  return {
    clock,
    node,
    dead: () => dead,
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]()
      stop.abort(new Error('The test has ended'))
      await running
    },
  }
}

/** Passes seconds, in which the node renews its lease if its control plane is there, until something is so. */
async function passUntil(
  { clock, node }: Started,
  { isConnected }: { readonly isConnected: boolean },
  look: () => boolean,
): Promise<void> {
  for (let seconds = 0; seconds < 500; seconds += 1) {
    if (look()) return
    await clock.advance(1_000)
    if (isConnected) node.leaseNotes.onRenewed()
  }
  throw new Error('Waited 500 s in vain')
}

test('a node takes endpoints out by its own finding only while its control plane is away, also after a reboot', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-neighbours-'))
  try {
    {
      await using started = await start(dataDir)
      const { node } = started
      node.watch.onNodes([nodeOf('a'), nodeOf('b')])
      const misses = (): boolean =>
        node.leaseNotes.annotations()[word] === '{"seen":[],"missed":["b"]}'
      await passUntil(started, { isConnected: true }, misses)
      assert.deepEqual(started.dead(), [], 'the site decides')
      await passUntil(started, { isConnected: false }, () => started.dead().length > 0)
      assert.deepEqual(started.dead(), ['b'])
      node.leaseNotes.onRenewed()
      assert.deepEqual(started.dead(), [])
    }
    const saved = await readFile(join(dataDir, 'neighbours.json'), 'utf8')
    assert.match(saved, /"name":"b","address":"127.0.0.1","port":1/)
    await using again = await start(dataDir)
    await passUntil(again, { isConnected: false }, () => again.dead().length > 0)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
