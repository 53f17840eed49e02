import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { builtinKinds, compareVersions, discoveryOrder } from '@skerry/kinds'
import type { Kind } from '@skerry/api'
import {
  aggregatedContentType,
  aggregatedDiscovery,
  aggregatedVersionOf,
} from './aggregated-discovery.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './discovery.ts'
import { sha256 } from '../sha256.ts'

test('the documents of built-in kinds are those of upstream 1.36.3, byte for byte', async () => {
  const kinds = await builtinKinds()
  // The SHA-256 of an upstream server's documents.
  const table: [document: unknown, hash: string][] = [
    [apiGroupList(kinds), 'c9104e43d31aba77'],
    [apiResourceList(kinds, { group: '', version: 'v1' }), '3ca0d21e2643c201'],
    [apiResourceList(kinds, { group: 'apps', version: 'v1' }), 'ba805c4611352c99'],
    [apiResourceList(kinds, { group: 'autoscaling', version: 'v1' }), 'c226374a906ba1fa'],
    [
      apiResourceList(kinds, { group: 'admissionregistration.k8s.io', version: 'v1' }),
      '95f32616c1294221',
    ],
    [apiResourceList(kinds, { group: 'apiextensions.k8s.io', version: 'v1' }), '22564f0264e622db'],
    [apiGroup(kinds, 'autoscaling'), 'a656b16393ccef93'],
    [aggregatedDiscovery(kinds, 'core'), '62ba2c9c257d9b20'],
    [aggregatedDiscovery(kinds, 'named'), 'f3f37a3f49ebb392'],
  ]
  for (const [document, hash] of table) {
    assert.equal(hashOf(document), hash, JSON.stringify(document).slice(0, 300))
  }
})

function hashOf(document: unknown): string {
  return createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 16)
}

test('beta versions are announced as by upstream 1.36.3 with api/beta=true', async () => {
  const kinds = await builtinKinds({ switches: { runtimeConfig: { 'api/beta': 'true' } } })
  const table: [document: unknown, hash: string][] = [
    [apiGroupList(kinds), '96bcc6bc1428aba8'],
    [aggregatedDiscovery(kinds, 'named'), 'd546d4bea81c83ea'],
    ...[
      ['networking.k8s.io', 'v1beta1', 'aad76b676c566f50'],
      ['storage.k8s.io', 'v1beta1', '9875d934aa6d6354'],
      ['admissionregistration.k8s.io', 'v1beta1', '86e68c46d3834a14'],
      ['coordination.k8s.io', 'v1beta1', '6d1d2c1716b3f94c'],
      ['resource.k8s.io', 'v1beta2', 'c11f1272ca15a88d'],
      ['resource.k8s.io', 'v1beta1', 'fc3d41edade6d260'],
    ].map(([group = '', version = '', hash = '']): [unknown, string] => [
      apiResourceList(kinds, { group, version }),
      hash,
    ]),
  ]
  for (const [document, hash] of table) assert.equal(hashOf(document), hash)
})

test('groups and versions that are not served have no document', async () => {
  const kinds = await builtinKinds()
  assert.equal(apiGroup(kinds, 'example.com'), undefined)
  assert.equal(apiGroup(kinds, ''), undefined)
  assert.equal(apiResourceList(kinds, { group: 'apps', version: 'v2' }), undefined)
  assert.deepEqual(apiVersions(kinds, 'host:6443').serverAddressByClientCIDRs, [
    { clientCIDR: '0.0.0.0/0', serverAddress: 'host:6443' },
  ])
})

test('custom kinds come last, the most stable and newest version first', async () => {
  const builtin = await builtinKinds()
  const [first] = builtin
  assert.ok(first)
  const custom = (group: string, version: string, resource: string): Kind => ({
    ...first,
    group,
    version,
    resource,
    kind: resource,
    isCustom: true,
  })
  const kinds = discoveryOrder(builtin, [
    custom('b.example.com', 'v1beta1', 'x'),
    custom('b.example.com', 'v2', 'z'),
    custom('b.example.com', 'v2', 'y'),
    custom('a.example.com', 'v1', 'x'),
  ])
  const groups = apiGroupList(kinds).groups.slice(-2)
  assert.deepEqual(
    groups.map(({ name, versions, preferredVersion }) => [
      name,
      versions.map(({ version }) => version),
      preferredVersion.groupVersion,
    ]),
    [
      ['a.example.com', ['v1'], 'a.example.com/v1'],
      ['b.example.com', ['v2', 'v1beta1'], 'b.example.com/v2'],
    ],
  )
  const last = aggregatedDiscovery(kinds, 'named').items.at(-1)
  assert.deepEqual(
    last?.versions[0]?.resources.map(({ resource }) => resource),
    ['y', 'z'],
  )
  assert.deepEqual(last?.versions[0]?.resources[0]?.responseKind, {
    group: 'b.example.com',
    version: 'v2',
    kind: 'y',
  })
})

test('versions are ordered by stability, then by number', () => {
  const ordered = ['v10', 'v2', 'v1', 'v3beta1', 'v1beta2', 'v1beta1', 'v9alpha1', 'a', 'v0']
  assert.deepEqual(ordered.toReversed().toSorted(compareVersions), ordered)
})

test('clients get the form of discovery that they ask for first', () => {
  const aggregated = (version: string) =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const table: [accept: string, version: string | undefined][] = [
    [`${aggregated('v2')},${aggregated('v2beta1')},application/json`, 'v2'],
    [`${aggregated('v2beta1')},application/json`, 'v2beta1'],
    [`${aggregated('v3')},${aggregated('v2')},application/json`, 'v2'],
    [`application/json,${aggregated('v2')}`, undefined],
    ['application/json, */*', undefined],
    ['', undefined],
  ]
  for (const [accept, version] of table) assert.equal(aggregatedVersionOf(accept), version, accept)
  assert.equal(aggregatedContentType('v2'), aggregated('v2'))
})

test('sha256 agrees with the platform', () => {
  for (const text of [
    '',
    'abc',
    'é'.repeat(31),
    'a'.repeat(55),
    'a'.repeat(56),
    'x'.repeat(1000),
  ]) {
    const expected = createHash('sha256').update(text).digest('hex')
    assert.equal(Buffer.from(sha256(text)).toString('hex'), expected)
  }
})
