import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeClusterSpec } from '../kind/edge-cluster.ts'
import type { Configuration } from '../kind/role-options.ts'
import { fakeShell } from '../testing/fake-shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { startNode } from './node.ts'
import { startSiteOf } from './site.ts'

const links = [
  { ifname: 'lo', addr_info: [{ local: '127.0.0.1', prefixlen: 8 }] },
  { ifname: 'eth0', addr_info: [{ local: '10.0.0.1', prefixlen: 24 }] },
  { ifname: 'eth1', addr_info: [{ local: '192.168.7.1', prefixlen: 24 }] },
]
const token = { server: 'https://192.0.2.1:7443', token: 'abcdef.0123456789abcdef', caHash: 'x' }

/** Returns the options with which a machine starts its roles, as one text each. */
async function optionsFor(spec: Partial<EdgeClusterSpec>): Promise<{ site: string; node: string }> {
  const shell = fakeShell(([program]) => {
    if (program === 'ip') return { stdout: JSON.stringify(links) }
    return program === 'uname' ? { stdout: 'shop-1\n' } : undefined
  })
  const context = contextOn('10.0.0.1', { spec, known: [], shells: { '10.0.0.1': shell } })
  await startSiteOf(token, [], context)
  await startNode(token, context)
  const read = (role: string): string => `${shell.files.get(`/etc/skerry/${role}.env`)?.trim()} `
  return { site: read('site'), node: read('node') }
}

const cases: readonly [
  field: string,
  spec: Partial<EdgeClusterSpec>,
  site: readonly string[],
  node: readonly string[],
][] = [
  [
    'nothing',
    {},
    ['--cluster-cidr 10.42.0.0/16', '--service-cidr 10.43.0.0/16', '--san 10.0.0.1'],
    ['--node-ip 10.0.0.1', '--cluster-domain cluster.local', '--max-pods 110'],
  ],
  [
    'networkInterface',
    { networkInterface: 'eth1' },
    ['--san 192.168.7.1'],
    ['--node-ip 192.168.7.1'],
  ],
  [
    'network.podCIDR',
    { network: { podCIDR: '10.70.0.0/16' } },
    ['--cluster-cidr 10.70.0.0/16', '--node-cidr-mask-size 24'],
    ['--cluster-cidr 10.70.0.0/16'],
  ],
  [
    'network.serviceCIDR',
    { network: { serviceCIDR: '10.60.0.0/16' } },
    ['--service-cidr 10.60.0.0/16'],
    ['--service-cidr 10.60.0.0/16'],
  ],
  [
    'network.dnsDomain',
    { network: { dnsDomain: 'branch.example' } },
    ['--cluster-domain branch.example'],
    ['--cluster-domain branch.example'],
  ],
  [
    'network.podsPerNode',
    { network: { podsPerNode: 30 } },
    ['--node-cidr-mask-size 26'],
    ['--max-pods 30'],
  ],
]
for (const [field, spec, site, node] of cases) {
  test(`the roles of a machine start with ${field} of the object`, async () => {
    const options = await optionsFor(spec)
    for (const words of site) assert.ok(options.site.includes(` ${words} `), options.site)
    for (const words of node) assert.ok(options.node.includes(` ${words} `), options.node)
  })
}

test('a role that starts for the first time has the options that a job has given to the others', async () => {
  const shell = fakeShell(([program]) => {
    if (program === 'ip') return { stdout: JSON.stringify(links) }
    return program === 'uname' ? { stdout: 'shop-1\n' } : undefined
  })
  const scene = contextOn('10.0.0.1', { known: [], shells: { '10.0.0.1': shell } })
  const startsWith = async (configuration: Configuration): Promise<(string | undefined)[]> => {
    const context = { ...scene, edge: { ...scene.edge, status: { configuration } } }
    await startSiteOf(token, [], context)
    await startNode(token, context)
    return ['site', 'node'].map((role) => shell.files.get(`/etc/skerry/${role}-options.env`))
  }
  assert.deepEqual(await startsWith({}), [undefined, undefined])
  assert.deepEqual(await startsWith({ node: { reservedAddresses: ['192.0.2.9'] } }), [
    undefined,
    'SKERRY_OPTIONS=--reserved-address 192.0.2.9\n',
  ])
  const [site] = await startsWith({ site: { metricsAPI: false } })
  assert.equal(site, 'SKERRY_OPTIONS=--disable-metrics-api\n')
})
