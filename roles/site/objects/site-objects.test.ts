import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApiServer } from '@skerry/testing'
import { ensureSiteObjects } from './site-objects.ts'

test('a site without a network starts, and publishes its address when it has one', async () => {
  await using site = await startTestApiServer({ withAccess: true })
  const addresses = {
    apiServiceIp: '10.43.0.1',
    serviceCidr: '10.43.0.0/16',
    dnsServiceIp: '10.43.0.10',
    port: 6443,
  }
  const published = () => {
    const found = site.objects.get({ group: '', resource: 'endpoints' }, 'default', 'kubernetes')
    return JSON.stringify(found?.['subsets'] ?? [])
  }
  await ensureSiteObjects(site.objects, { ...addresses, advertiseAddress: undefined })
  assert.equal(published(), '[]')
  await ensureSiteObjects(site.objects, { ...addresses, advertiseAddress: '10.0.0.5' })
  assert.match(published(), /"10\.0\.0\.5"/)
  await ensureSiteObjects(site.objects, { ...addresses, advertiseAddress: undefined })
  assert.match(published(), /"10\.0\.0\.5"/)
})
