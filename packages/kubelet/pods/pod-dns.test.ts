import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodSpec } from '@skerry/api'
import { hostsFile, podHostname } from './hosts-file.ts'
import { parseResolvConf, podDns } from './pod-dns.ts'

const podOf = (spec: Partial<PodSpec>, name = 'web'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', uid: 'u1' },
  spec: { containers: [], ...spec },
})
const host = parseResolvConf(
  '# x\nnameserver 9.9.9.9\nsearch corp.example\noptions timeout:2 rotate\n',
)
const cluster = { servers: ['10.0.0.10'], domain: 'cluster.local' }
const clusterSearches = 'shop.svc.cluster.local svc.cluster.local cluster.local corp.example'

const cases: [string, Partial<PodSpec>, string][] = [
  ['the default', {}, `10.0.0.10 | ${clusterSearches} | ndots:5`],
  ['on the host network', { hostNetwork: true }, '9.9.9.9 | corp.example | timeout:2 rotate'],
  [
    'on the host network, asked',
    { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' },
    `10.0.0.10 | ${clusterSearches} | ndots:5`,
  ],
  ['Default', { dnsPolicy: 'Default' }, '9.9.9.9 | corp.example | timeout:2 rotate'],
  [
    'None',
    {
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['1.1.1.1'], searches: ['x'], options: [{ name: 'edns0' }] },
    },
    '1.1.1.1 | x | edns0',
  ],
  [
    'an option of the pod wins',
    { dnsConfig: { options: [{ name: 'ndots', value: '2' }] } },
    `10.0.0.10 | ${clusterSearches} | ndots:2`,
  ],
]

for (const [name, spec, expected] of cases) {
  test(`DNS: ${name}`, () => {
    const { servers, searches, options } = podDns(podOf(spec), cluster, host)
    assert.equal([servers, searches, options].map((list) => list.join(' ')).join(' | '), expected)
  })
}

test('resolvers read three servers, so no more are written', () => {
  const dnsConfig = { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] }
  assert.equal(podDns(podOf({ dnsConfig }), cluster, host).servers.length, 3)
})

test('a host name is cut to 63 characters and never ends in a dash', () => {
  assert.equal(podHostname(podOf({}, `${'a'.repeat(62)}-${'b'.repeat(20)}`)), 'a'.repeat(62))
  assert.equal(podHostname(podOf({ hostname: 'db-0' })), 'db-0')
})

test('the hosts file names the pod, with its domain, and its aliases', () => {
  const pod = podOf({
    hostname: 'db-0',
    subdomain: 'db',
    hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }],
  })
  const text = hostsFile(pod, {
    podIps: ['10.1.1.1'],
    clusterDomain: 'cluster.local',
    hostFile: '',
  })
  assert.match(text, /^10\.1\.1\.1\tdb-0\.db\.shop\.svc\.cluster\.local\tdb-0$/m)
  assert.match(text, /^1\.2\.3\.4\ta\tb$/m)
})

test('a pod on the host network has the hosts file of the host', () => {
  const options = { podIps: ['10.1.1.1'], clusterDomain: 'c', hostFile: '127.0.0.1 localhost\n' }
  assert.equal(hostsFile(podOf({ hostNetwork: true }), options), '127.0.0.1 localhost\n')
})
