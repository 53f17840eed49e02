import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeClusterSpec, MachineRole } from '../kind/edge-cluster.ts'
import { parseFacts } from './preflight-facts.ts'
import { hubFindings, networkFindings } from './preflight-network.ts'

const judged = {
  edge: { spec: { machines: [] } },
  role: 'Master' as const,
  hasMember: false,
  hasOthers: true,
  isMember: false,
}
const findings = (text: string, more: Partial<typeof judged> = {}): string[] =>
  networkFindings(parseFacts(text), { ...judged, ...more })

const cases: readonly [what: string, text: string, expected: readonly RegExp[]][] = [
  ['nothing', '', []],
  [
    'the default route and its own network',
    'route eth0 00000000 00000000\nroute eth0 0000000A 00FFFFFF',
    [],
  ],
  [
    'a VPN among the pods',
    'route tun0 00802A0A 0080FFFF',
    [/10\.42\.128\.0\/17 by tun0 overlaps with spec\.network\.podCIDR/],
  ],
  [
    'a route that contains both ranges',
    'route vpn 0000000A 000000FF',
    [/podCIDR, 10\.42/, /serviceCIDR, 10\.43/],
  ],
  ['a route in odd words', 'route tun0 zz 00\nroute', []],
  ['a link of another Kubernetes', 'leftover-link cni0', [/interface cni0 .* restart/]],
  [
    'a hub that has no address',
    'name-unknown hub hub.example.com',
    [/hub, hub\.example\.com: correct its DNS/],
  ],
  [
    'a mirror that has no address',
    'name-unknown mirror deb.example.org',
    [/mirror, deb\.example\.org/],
  ],
  [
    'a closed firewall',
    'iptables -P INPUT DROP',
    [/TCP port 6443: let them in/, /TCP port 10250/, /UDP port 8472/],
  ],
  ['a firewall with a long list of rules', `nft ${'['.repeat(1_000)}`, []],
]
for (const [what, text, expected] of cases) {
  test(`${what} makes ${expected.length} findings`, () => {
    const found = findings(text)
    assert.equal(found.length, expected.length, found.join('\n'))
    for (const [at, pattern] of expected.entries()) assert.match(found[at] ?? '', pattern)
  })
}

test('an interface that a machine lacks is named before anything is installed', () => {
  const spec = { machines: [], networkInterface: 'eth1' }
  const found = (text: string): string[] =>
    networkFindings(parseFacts(text), { ...judged, edge: { spec } })
  assert.deepEqual(found('link lo\nlink ens3\nlink eth1'), [])
  assert.deepEqual(found('link lo\nlink ens3'), [
    'it has no interface eth1, only ens3: correct spec.networkInterface',
  ])
})

test('a virtual IP that no network of a master has is named before anything is installed', () => {
  const networks =
    'route eth0 00000000 00000000\nroute eth0 0000000A 00FFFFFF\nroute eth1 0001A8C0 00FFFFFF'
  const found = (
    address: string,
    more: Partial<EdgeClusterSpec> = {},
    role: MachineRole = 'Master',
  ) => {
    const highAvailability = { type: 'VirtualIP' as const, address }
    const edge = { spec: { machines: [], highAvailability, ...more } }
    return networkFindings(parseFacts(networks), { ...judged, edge, role })
  }
  assert.deepEqual(found('10.0.0.100'), [])
  assert.deepEqual(found('192.168.1.9'), [])
  const [finding = ''] = found('10.0.1.100')
  assert.match(
    finding,
    /^none of its networks \(10\.0\.0\.0\/24, 192\.168\.1\.0\/24\) has .* 10\.0\.1\.100: /,
  )
  assert.equal(found('192.168.1.9', { networkInterface: 'eth0' }).length, 1)
  assert.deepEqual(found('10.0.1.100', {}, 'Node'), [])
})

test('a node needs no port of the API, and a machine that is alone needs none at all', () => {
  assert.equal(findings('iptables -P INPUT DROP', { hasOthers: false }).length, 0)
})

test('routes and links of the cluster are not findings on a machine that belongs to it', () => {
  const text = 'route skerry0 00002A0A 00FFFFFF\nleftover-link nodelocaldns'
  assert.equal(findings(text).length, 2)
  assert.deepEqual(findings(text, { isMember: true }), [])
})

const hubs: readonly [server: string, expected: RegExp | undefined][] = [
  ['https://10.0.0.5:7443', undefined],
  ['https://hub.example.com', undefined],
  [
    'https://10.43.7.5:7443',
    /hub, https:\/\/10\.43\.7\.5:7443, is in spec\.network\.serviceCIDR, 10\.43/,
  ],
  ['https://10.42.0.5', /spec\.network\.podCIDR.*; choose another range, or set spec\.hubServer/],
]
for (const [server, expected] of hubs) {
  test(`a hub at ${server} ${expected === undefined ? 'is reached' : 'would be looked for within the cluster'}`, () => {
    const [finding, ...others] = hubFindings(server, judged.edge)
    assert.deepEqual(others, [])
    if (expected === undefined) assert.equal(finding, undefined)
    else assert.match(finding ?? '', expected)
  })
}
