import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { silentLogger, type Logger } from '@skerry/base'
import { readBody } from '@skerry/client'
import { clusterResource, trafficContractResource, type TrafficContract } from '@skerry/fleet-kinds'
import type { TunnelsReport } from '@skerry/gateway'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }

function contractOf(name: string, spec: TrafficContract['spec']): TrafficContract {
  const { group, version } = trafficContractResource
  return {
    apiVersion: `${group}/${version}`,
    kind: 'TrafficContract',
    metadata: { name },
    spec,
  }
}

/** Collects the rates that the agent reports; 0 for none. */
function rateLog() {
  const rates: number[] = []
  const waiting: (() => void)[] = []
  const info = (message: string, fields: Parameters<Logger['info']>[1] = {}): void => {
    if (message.startsWith('Tunnel sends')) rates.push(Number(fields['bytesPerSecond'] ?? 0))
    waiting.splice(0).forEach((resolve) => resolve())
  }
  const log: Logger = { ...silentLogger, info, child: () => log }
  return {
    log,
    next: async (): Promise<number> => {
      for (;;) {
        const rate = rates.shift()
        if (rate !== undefined) return rate
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
  }
}

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub())
  const { log, next } = rateLog()
  const labels = { link: 'lte' }
  stack.use(await startTestAgent(fleet, { name: 'edge', api: edge.api, labels, log }))
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
  const transport = stack.use(await fleet.as(operator))
  const owned = stack.move()
  return {
    fleet,
    nextRate: next,
    contracts: fleet.admin.resource(trafficContractResource),
    clusters: fleet.admin.resource(clusterResource),
    async get(path: string) {
      const { status, body } = await transport.send(
        { method: 'GET', path, headers: { accept: 'application/json' } },
        soon(),
      )
      return { status, text: Buffer.from(await readBody(body)).toString() }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

test('a contract holds for the clusters that it selects, at both ends, while it is there', async () => {
  await using scene = await startFleet()
  const { contracts, clusters, fleet, nextRate } = scene
  const created = await contracts.create(
    contractOf('lte', {
      clusterSelector: { matchLabels: { link: 'lte' } },
      uplink: { bytesPerSecond: '64k', burst: '128Ki' },
      downlink: { bytesPerSecond: '1Mi' },
      classes: { bulk: { floorPercent: 20 } },
    }),
    soon(),
  )
  assert.equal(await nextRate(), 64_000)
  const [session] = fleet.hub.connections.own.sessions('edge')
  assert.deepEqual(session?.rules.toAgent.rate, {
    bytesPerSecond: 1_048_576,
    burstBytes: 1_048_576,
  })
  assert.equal(session?.rules.toHub.floors.bulk, 0.2)

  // Requests continue under it.
  const version = await scene.get('/clusters/edge/version')
  assert.equal(version.status, 200)
  const { text } = await scene.get('/tunnel/v1/clusters/edge')
  const report: TunnelsReport = JSON.parse(text)
  const [tunnel] = report.tunnels
  assert.equal(tunnel?.traffic?.uplinkBytesPerSecond, 64_000)
  assert.equal(tunnel?.traffic?.isObeyed, true)
  assert.ok((tunnel?.traffic?.classes.control.in ?? 0) > 0)

  await contracts.create(
    contractOf('night', { clusterNames: ['edge'], priority: 1, uplink: { bytesPerSecond: '8k' } }),
    soon(),
  )
  assert.equal(await nextRate(), 8_000)
  await contracts.delete({ name: 'night' }, soon())
  assert.equal(await nextRate(), 64_000)
  const { spec } = created
  const patch = { spec: { ...spec, uplink: { bytesPerSecond: '32k' } } }
  await contracts.patch({ name: 'lte', type: 'merge', patch }, soon())
  assert.equal(await nextRate(), 32_000)
  const unlabelled = { metadata: { labels: { link: 'fibre' } } }
  await clusters.patch({ name: 'edge', type: 'merge', patch: unlabelled }, soon())
  assert.equal(await nextRate(), 0)
  assert.equal(session?.rules.toAgent.rate, undefined)
})

const refused: readonly { spec: TrafficContract['spec']; words: RegExp }[] = [
  { spec: {}, words: /spec\.clusterSelector: Required value/ },
  {
    spec: { clusterNames: ['edge'], uplink: { bytesPerSecond: '1' } },
    words: /spec\.uplink\.bytesPerSecond: Invalid value: "1": must be a quantity from 1024/,
  },
  {
    spec: { clusterNames: ['edge'], downlink: { bytesPerSecond: '64k', burst: '-1' } },
    words: /spec\.downlink\.burst: Invalid value/,
  },
  {
    spec: {
      clusterNames: ['edge'],
      classes: { bulk: { floorPercent: 60 }, logs: { floorPercent: 60 } },
    },
    words: /spec\.classes: Invalid value: 120/,
  },
  { spec: { clusterNames: ['Edge!'] }, words: /spec\.clusterNames\[0\]: Invalid value/ },
  { spec: { clusterNames: ['edge'], bulkAfter: '1' }, words: /spec\.bulkAfter: Invalid value/ },
]
test('a contract that no link could keep is refused, and says why', async () => {
  await using fleet = await startTestHub()
  const contracts = fleet.admin.resource(trafficContractResource)
  for (const { spec, words } of refused) {
    await assert.rejects(contracts.create(contractOf('bad', spec), soon()), (error: Error) => {
      assert.ok(isStatusError(error, 'Invalid'), error.message)
      assert.match(error.message, words)
      return true
    })
  }
})
