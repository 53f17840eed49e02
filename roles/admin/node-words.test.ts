import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SiteInfo } from './site-info.ts'
import { nameWords, networkWords, siteNetworkWords } from './node-words.ts'

const usual: SiteInfo = {
  name: 'shop-7',
  podCIDR: '10.42.0.0/16',
  serviceCIDR: '10.43.0.0/16',
  dnsDomain: 'cluster.local',
  nodeMaskSize: 24,
}

const table: readonly [Partial<SiteInfo>, string][] = [
  [{}, ''],
  [{ podCIDR: '10.8.0.0/20' }, '--cluster-cidr 10.8.0.0/20'],
  [
    { serviceCIDR: '10.9.0.0/20', dnsDomain: 'shop' },
    '--service-cidr 10.9.0.0/20 --cluster-domain shop',
  ],
  [{ nodeMaskSize: 26 }, '--max-pods 32'],
  [{ nodeMaskSize: 23 }, ''],
]
for (const [change, expected] of table) {
  test(`a node of a site with ${JSON.stringify(change)} is started with "${expected}"`, () => {
    assert.equal(networkWords({ ...usual, ...change }).join(' '), expected)
  })
}

test('a further master gets the address before the masters, and a node needs none', () => {
  const fronted = { ...usual, controlPlaneEndpoint: '10.0.0.9:6443' }
  assert.deepEqual(siteNetworkWords(fronted), ['--control-plane-endpoint', '10.0.0.9:6443'])
  assert.deepEqual(siteNetworkWords(usual), [])
  assert.deepEqual(networkWords(fronted), [])
})

test('a site of an earlier version gives neither name nor ranges', () => {
  assert.deepEqual([...nameWords(undefined), ...networkWords(undefined)], [])
  assert.deepEqual(nameWords(usual), ['--cluster', 'shop-7'])
})
