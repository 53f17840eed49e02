import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { readSiteInfo, type SiteInfo } from '../../admin/site-info.ts'
import { publishSiteInfo } from './publish-site-info.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const info: SiteInfo = {
  name: 'shop-7',
  podCIDR: '10.8.0.0/20',
  serviceCIDR: '10.9.0.0/20',
  dnsDomain: 'shop.local',
  nodeMaskSize: 25,
}

test('a site publishes its facts at each start, and a site of an earlier version has none', async () => {
  await using server = await startTestApiServer()
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  const cluster = createCluster(server.transport, deps)
  assert.equal(await readSiteInfo(cluster, soon()), undefined)
  for (const podCIDR of ['10.8.0.0/20', '10.8.0.0/20', '10.10.0.0/16']) {
    await publishSiteInfo(server.objects, { ...info, podCIDR }, silentLogger)
    assert.deepEqual(await readSiteInfo(cluster, soon()), { ...info, podCIDR })
  }
})

test('the address before the masters is published, and is gone when the site starts without it', async () => {
  await using server = await startTestApiServer()
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  const cluster = createCluster(server.transport, deps)
  const publish = (endpoint: object): Promise<void> =>
    publishSiteInfo(server.objects, { ...info, ...endpoint }, silentLogger)
  const published = async (): Promise<string | undefined> =>
    (await readSiteInfo(cluster, soon()))?.controlPlaneEndpoint
  await publish({ controlPlaneEndpoint: '10.0.0.9:6443' })
  assert.equal(await published(), '10.0.0.9:6443')
  await publish({ controlPlaneEndpoint: '10.0.0.9;reboot' })
  assert.equal(await published(), undefined)
  await publish({ controlPlaneEndpoint: 'api.example:443' })
  await publish({})
  assert.equal(await published(), undefined)
})
