import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApiServer } from '@skerry/testing'
import { publishApiEndpoints, type Master } from './api-endpoints.ts'
import { ensureSiteObjects } from './site-objects.ts'

const addresses = {
  apiServiceIp: '10.43.0.1',
  serviceCidr: '10.43.0.0/16',
  dnsServiceIp: '10.43.0.10',
  port: 6443,
}
const slices = { group: 'discovery.k8s.io', resource: 'endpointslices' }

async function startSite() {
  const site = await startTestApiServer({ withAccess: true })
  await ensureSiteObjects(site.objects, addresses)
  return {
    publish: (masters: readonly Master[]) => publishApiEndpoints(site.objects, masters),
    published: () => {
      const found = site.objects.get({ group: '', resource: 'endpoints' }, 'default', 'kubernetes')
      return JSON.stringify(found?.['subsets'] ?? [])
    },
    slices: () =>
      site.objects.list(slices, 'default').map(({ metadata, endpoints, ports }) => {
        const [{ port } = { port: 0 }] = ports as { port: number }[]
        const servers = (endpoints as { addresses: string[] }[]).map((each) => each.addresses[0])
        return `${metadata.name} ${servers.join()} at ${port}`
      }),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  }
}

test('a site without a network starts, and publishes its address when it has one', async () => {
  await using site = await startSite()
  const address = '10.0.0.5'
  await site.publish([])
  assert.equal(site.published(), '[]')
  await site.publish([{ address, port: 6443 }])
  assert.match(site.published(), /"10\.0\.0\.5"/)
  await site.publish([])
  assert.match(site.published(), /"10\.0\.0\.5"/)
})

test('masters are endpoints of one service, and those at another port have a slice of their own', async () => {
  await using site = await startSite()
  const [one, two] = [
    { address: '10.0.0.5', port: 6443 },
    { address: '10.0.0.6', port: 6443 },
  ]
  await site.publish([two, one, one])
  assert.deepEqual(site.slices(), ['kubernetes 10.0.0.5,10.0.0.6 at 6443'])
  await site.publish([one, two, { address: '10.0.0.6', port: 7443 }])
  const both = ['kubernetes 10.0.0.5,10.0.0.6 at 6443', 'kubernetes-7443 10.0.0.6 at 7443']
  assert.deepEqual(site.slices().toSorted(), both)
  assert.match(site.published(), /10\.0\.0\.6.*7443/)
  await site.publish([two])
  assert.deepEqual(site.slices(), ['kubernetes 10.0.0.6 at 6443'])
})
