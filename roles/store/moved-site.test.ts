import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import { administrator, startTestEtcd, whyNoEtcd } from '@skerry/testing'
import { scratchDirectory, startTestControlPlane } from '../../testing/scenes/test-control-plane.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { moveSiteToEtcd, moveSiteToSqlite } from './move-site.ts'

const skip = await whyNoEtcd()
const context = {
  clock: systemClock,
  log: silentLogger,
  random: systemRandom,
  signal: new AbortController().signal,
}
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const secrets = { group: '', resource: 'secrets' }
const namespace = 'default'
const named = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
})

function configMaps(plane: ControlPlane) {
  const transport = plane.server.transport(administrator)
  return createCluster(transport, { ...context, userAgent: 'test' }).resource(resources.configMaps)
}

/** Returns names and resourceVersions of the objects, as a client lists them. */
async function listed(
  plane: ControlPlane,
  resourceVersion?: string,
): Promise<[string | undefined, string | undefined][]> {
  const at = resourceVersion === undefined ? {} : ({ resourceVersion, ...exactly } as const)
  const { items } = await configMaps(plane).list({ namespace, ...at }, soon())
  return items.map(({ metadata }) => [metadata.name, metadata.resourceVersion])
}

const exactly = Object.freeze({ resourceVersionMatch: 'Exact' } as const)

test(
  'a moved site has the same resourceVersions, and serves old ones from its history',
  { skip },
  async () => {
    await using scratch = await scratchDirectory()
    const dataDir = scratch.path
    const etcdDataDir = join(dataDir, 'etcd')
    const prefix = '/skerry/site'
    let before: Awaited<ReturnType<typeof listed>>
    let inThePast: Awaited<ReturnType<typeof listed>>
    let old = ''
    {
      await using plane = await startTestControlPlane(dataDir)
      const maps = configMaps(plane)
      await maps.create(named('gone'), soon())
      old = (await maps.list({ namespace }, soon())).metadata.resourceVersion ?? ''
      inThePast = await listed(plane)
      await maps.create(named('kept'), soon())
      await maps.delete({ name: 'gone', namespace }, soon())
      const data = { password: 'dHIwdWI0ZG9y' }
      const metadata = { name: 's', namespace }
      await plane.objects.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data })
      before = await listed(plane)
    }
    const member = { name: 'default', peerUrls: ['http://127.0.0.1:0'], clusterToken: 'test' }
    const etcdPath = '/usr/bin/etcd'
    await moveSiteToEtcd({ dataDir, etcdDataDir, prefix, etcdPath, member }, context)
    const database = await readFile(join(etcdDataDir, 'member', 'snap', 'db'))
    assert.ok(!database.includes('dHIwdWI0ZG9y'), 'a Secret stays encrypted')
    await using etcd = await startTestEtcd({ dataDir: etcdDataDir })
    const options = { etcdServers: [etcd.endpoint], etcdPrefix: prefix }
    {
      await using plane = await startTestControlPlane(dataDir, { etcd: options })
      assert.deepEqual(await listed(plane), before)
      assert.deepEqual(plane.objects.get(secrets, namespace, 's')?.['data'], {
        password: 'dHIwdWI0ZG9y',
      })
      await configMaps(plane).create(named('on-etcd'), soon())
      assert.deepEqual(await listed(plane, old), inThePast)
      before = await listed(plane)
    }
    await moveSiteToSqlite({ dataDir, etcd: { endpoints: [etcd.endpoint], prefix } }, context)
    await using plane = await startTestControlPlane(dataDir)
    assert.deepEqual(await listed(plane), before)
    assert.deepEqual(await listed(plane, old), inThePast)
    await configMaps(plane).create(named('back'), soon())
  },
)
