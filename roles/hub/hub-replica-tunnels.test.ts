import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ConfigMap } from '@skerry/api'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import { tunnelPrefix, type TunnelsReport } from '@skerry/gateway'
import { startTestEtcd, whyNoEtcd, until } from '@skerry/testing'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { etcdFlags, spawnReplica, startBalancer } from '../../testing/scenes/test-replicas.ts'
import { replicaKeyPath } from '../control-plane/shared-keys.ts'

const skip = await whyNoEtcd()
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }

/** Waits until this many tunnels of the cluster are open, on whichever replica they end. */
async function untilTunnels(fleet: TestHub, count: number): Promise<TunnelsReport> {
  const signal = AbortSignal.timeout(30_000)
  using transport = await fleet.as(operator)
  const hub = createCluster(transport, deps)
  return await until(async () => {
    const path = `${tunnelPrefix}edge`
    const { body } = await hub.raw({ method: 'GET', path, headers: {} }, signal)
    const text = Buffer.concat(await Array.fromAsync(body)).toString('utf8')
    const report: TunnelsReport = JSON.parse(text)
    return report.tunnels.length === count && report
  }, signal)
}

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})

test(
  'one agent has a tunnel to each replica behind one name, and none waits for one that dies',
  { skip },
  async () => {
    await using edge = await startTestEdge()
    await using etcd = await startTestEtcd()
    await using fleet = await startTestHub({ etcd: etcdFlags(etcd) })
    const target = { urls: [fleet.url] }
    await using balancer = await startBalancer(target)
    const opened: number[] = []
    await using _agent = await startTestAgent(fleet, {
      name: 'edge',
      api: edge.api,
      hub: balancer.url,
      directory: join(fleet.directory, 'agent'),
      onOpen: (count) => void opened.push(count),
    })
    await untilTunnels(fleet, 1)
    using through = await fleet.as(operator, '/clusters/edge')
    const maps = createCluster(through, deps).resource(resources.configMaps)
    {
      await using doomed = await spawnReplica(etcd, replicaKeyPath(fleet.directory))
      target.urls = [fleet.url, doomed.url]
      await untilTunnels(fleet, 2)
      // There is one each: a second one at a replica would be useless.
      assert.equal(fleet.hub.connections.own.sessions('edge').length, 1)
      await doomed.kill()
      target.urls = [fleet.url]
      const signal = AbortSignal.timeout(30_000)
      const names = Array.from({ length: 10 }, (_, index) => `written-${index}`)
      await Promise.all(names.map((name) => maps.create(configMap(name), signal)))
    }
    // Another replica replaces it, and the agent is notified.
    await using next = await spawnReplica(etcd, replicaKeyPath(fleet.directory))
    target.urls = [next.url, fleet.url]
    await untilTunnels(fleet, 2)
    assert.equal(fleet.hub.connections.own.sessions('edge').length, 1)
    assert.ok(!opened.includes(0), 'it was never without a tunnel')
  },
)
