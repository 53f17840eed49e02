import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeClusterCauses } from './edge-cluster-checks.ts'
import { importFixedCauses } from './edge-cluster-import.ts'
import type { EdgeCluster, MachineBlock } from './edge-cluster.ts'
import { jumpsOf, jumpText } from './edge-cluster-ways.ts'

const credentials = { name: 'ssh' }
const hostKey = `SHA256:${'a'.repeat(43)}`
const jump = { address: '10.0.0.2', credentials: { name: 'gate' } }

function edgeOf(spec: Partial<EdgeCluster['spec']>): EdgeCluster {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', namespace: 'default' },
    spec: { machines: [], ...spec },
  }
}

function withBlock(block: Partial<MachineBlock>): EdgeCluster {
  const master = { addresses: ['10.0.0.1'], credentials, role: 'Master' as const }
  return edgeOf({ machines: [master, { addresses: ['192.168.7.21'], credentials, ...block }] })
}

const fields = (edge: EdgeCluster): string[] =>
  edgeClusterCauses(edge).map(({ field = '', message }) => `${field}: ${message}`)

const blocks: readonly [string, Partial<MachineBlock>, RegExp | undefined][] = [
  ['a jump host', { jump }, undefined],
  [
    'a jump host with everything',
    { jump: { ...jump, port: 2222, user: 'gate', hostKeys: [hostKey], acceptNewHostKeys: true } },
    undefined,
  ],
  ['the site', { via: 'Site' }, undefined],
  ['another cluster', { viaCluster: 'shop-1' }, undefined],
  ['two ways', { jump, via: 'Site' }, /^spec\.machines\[1\]\.via: .*together with jump/],
  ['two clusters', { via: 'Site', viaCluster: 'b' }, /viaCluster: .*together with via/],
  ['an unknown way', { via: 'Balloon' as 'Site' }, /\.via: .*"Site"/],
  [
    'the site for its own master',
    { via: 'Site', role: 'Master' },
    /\.via: Forbidden: a Master cannot be/,
  ],
  ['a cluster with a bad name', { viaCluster: 'A/b' }, /\.viaCluster: /],
  ['a cluster with a long name', { viaCluster: 'a'.repeat(49) }, /no more than 48 characters/],
  ['the cluster itself', { viaCluster: 'branch-7' }, /viaCluster: .*set via to Site/],
  ['a jump host without a login', { jump: { address: '10.0.0.2' } as never }, /credentials\.name/],
  ['a jump host without an address', { jump: { credentials } as never }, /jump\.address/],
  ['several jump hosts', { jump: { ...jump, address: '10.0.0.[2-3]' } }, /must be one IPv4/],
  ['a jump host with a bad port', { jump: { ...jump, port: 0 } }, /jump\.port/],
  ['a jump host with a bad user', { jump: { ...jump, user: 'a b' } }, /jump\.user/],
  ['a jump host with a bad key', { jump: { ...jump, hostKeys: ['MD5:0'] } }, /jump\.hostKeys\[0\]/],
]
for (const [address, why] of [
  ['127.0.0.1', 'on the hub itself'],
  ['localhost', 'on the hub itself'],
  ['0.0.0.0', 'on the hub itself'],
  ['169.254.169.254', 'link-local'],
  ['100.100.100.200', 'credentials'],
  ['0x7f.1', 'one IPv4'],
] as const) {
  const far = /jump\.address: /
  test(`no jump host is at ${address}, and no machine behind one`, () => {
    const [cause = ''] = fields(withBlock({ jump: { ...jump, address } }))
    assert.match(cause, far)
    assert.ok(cause.includes(why), cause)
    assert.match(fields(withBlock({ jump, addresses: [address] }))[0] ?? '', /addresses\[0\]/)
  })
}
for (const [what, block, cause] of blocks) {
  test(`${what} as the way to machines is ${cause === undefined ? 'taken' : 'refused'}`, () => {
    const found = fields(withBlock(block))
    if (cause === undefined) assert.deepEqual(found, [])
    else assert.match(found.join('\n'), cause)
  })
}

test('a jump host with two logins is refused; one with one login may stand before several blocks', () => {
  const blockOf = (at: number, fields: object): MachineBlock => ({
    addresses: [`192.168.7.${at}`],
    credentials,
    jump: { ...jump, ...fields },
  })
  const { spec } = withBlock({})
  const machines = [...spec.machines, blockOf(31, {}), blockOf(32, { user: 'root', port: 22 })]
  assert.deepEqual(fields(edgeOf({ machines })), [])
  const found = fields(edgeOf({ machines: [...machines, blockOf(33, { user: 'gate' })] }))
  assert.match(found.join('\n'), /^spec\.machines\[4\]\.jump: .*than in spec\.machines\[2\]/)
})

test('jump hosts are named by address, and by port unless it is 22; each is listed once', () => {
  const other = { ...jump, port: 2222 }
  const machines = [jump, other, jump].map((each) => ({ addresses: [], credentials, jump: each }))
  assert.deepEqual(jumpsOf({ machines }).map(jumpText), ['10.0.0.2', '10.0.0.2:2222'])
})

const imports: readonly [string, Partial<EdgeCluster['spec']>, RegExp | undefined][] = [
  ['nothing else', { import: {} }, undefined],
  [
    'all that it knows',
    { import: { applyWorks: true, allowDials: ['10.0.0.0/24:22'] } },
    undefined,
  ],
  ['a hub of its own', { import: {}, hubServer: 'https://hub:7443' }, undefined],
  [
    'machines',
    { import: {}, machines: [{ addresses: ['10.0.0.1'], credentials }] },
    /^spec\.machines: Forbidden: may not be set together with spec\.import/,
  ],
  ['a network', { import: {}, network: {} }, /^spec\.network: Forbidden: has no meaning/],
  ['hooks', { import: {}, hooks: [] }, /^spec\.hooks: Forbidden: has no meaning/],
  ['a deletion', { import: {}, deletion: { machines: 'Keep' } }, /^spec\.deletion: /],
  ['a bad dial', { import: { allowDials: ['x'] } }, /^spec\.import\.allowDials\[0\]: /],
  ['a bad service', { import: { allowServices: ['x'] } }, /^spec\.import\.allowServices\[0\]: /],
  ['a bad image', { import: { image: 'a b' } }, /^spec\.import\.image: /],
]
for (const [what, spec, cause] of imports) {
  test(`an import with ${what} is ${cause === undefined ? 'taken' : 'refused'}`, () => {
    const found = fields(edgeOf(spec))
    if (cause === undefined) assert.deepEqual(found, [])
    else assert.match(found.join('\n'), cause)
  })
}

test('a cluster that was made is not imported later, and the other way around', () => {
  const [made, imported] = [withBlock({}), edgeOf({ import: {} })]
  assert.equal(importFixedCauses(imported, imported).length, 0)
  assert.equal(importFixedCauses(imported, made)[0]?.field, 'spec.import')
  assert.equal(importFixedCauses(made, imported)[0]?.field, 'spec.import')
})
