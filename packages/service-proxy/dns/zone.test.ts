import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '@skerry/api'
import { unitHostname } from '../services/unit-hostname.ts'
import { buildZone } from './zone.ts'

const services: Service[] = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      clusterIP: '10.43.0.20',
      clusterIPs: ['10.43.0.20'],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'db', namespace: 'shop' },
    spec: { clusterIP: 'None', ports: [{ name: 'redis', port: 6379, protocol: 'TCP' }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'out', namespace: 'shop' },
    spec: { type: 'ExternalName', externalName: 'Example.org.' },
  },
]
const slices: EndpointSlice[] = [
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'db-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'db' } },
    addressType: 'IPv4',
    ports: [{ name: 'redis', port: 6379, protocol: 'TCP' }],
    endpoints: [
      { addresses: ['10.42.0.5'], hostname: 'db-0', conditions: { ready: true } },
      { addresses: ['10.42.0.6'], conditions: { ready: true } },
      { addresses: ['10.42.0.7'], hostname: 'db-2', conditions: { ready: false } },
    ],
  },
]
const zone = buildZone(services, slices, { domain: 'cluster.local', ttlSeconds: 5 })

const table: { ask: [name: string, type: string]; data: unknown[] | 'NXDOMAIN' | undefined }[] = [
  { ask: ['web.shop.svc.cluster.local', 'A'], data: ['10.43.0.20'] },
  { ask: ['WEB.shop.svc.cluster.LOCAL.', 'A'], data: ['10.43.0.20'] },
  { ask: ['web.shop.svc.cluster.local', 'AAAA'], data: [] },
  { ask: ['nobody.shop.svc.cluster.local', 'A'], data: 'NXDOMAIN' },
  { ask: ['shop.svc.cluster.local', 'A'], data: [] },
  { ask: ['db.shop.svc.cluster.local', 'A'], data: ['10.42.0.5', '10.42.0.6'] },
  { ask: ['db-0.db.shop.svc.cluster.local', 'A'], data: ['10.42.0.5'] },
  { ask: ['db-2.db.shop.svc.cluster.local', 'A'], data: 'NXDOMAIN' },
  { ask: ['10-42-0-6.db.shop.svc.cluster.local', 'A'], data: ['10.42.0.6'] },
  {
    ask: ['_http._tcp.web.shop.svc.cluster.local', 'SRV'],
    data: [{ target: 'web.shop.svc.cluster.local', port: 80, priority: 0, weight: 100 }],
  },
  {
    ask: ['_redis._tcp.db.shop.svc.cluster.local', 'SRV'],
    data: [
      { target: 'db-0.db.shop.svc.cluster.local', port: 6379, priority: 0, weight: 50 },
      { target: '10-42-0-6.db.shop.svc.cluster.local', port: 6379, priority: 0, weight: 50 },
    ],
  },
  { ask: ['out.shop.svc.cluster.local', 'A'], data: ['example.org'] },
  { ask: ['10-42-3-4.shop.pod.cluster.local', 'A'], data: ['10.42.3.4'] },
  { ask: ['10-42-3-999.shop.pod.cluster.local', 'A'], data: 'NXDOMAIN' },
  { ask: ['20.0.43.10.in-addr.arpa', 'PTR'], data: ['web.shop.svc.cluster.local'] },
  { ask: ['1.1.1.10.in-addr.arpa', 'PTR'], data: undefined },
  { ask: ['dns-version.cluster.local', 'TXT'], data: ['1.1.0'] },
  { ask: ['example.org', 'A'], data: undefined },
]

for (const row of table) {
  test(`${row.ask[1]} ${row.ask[0]}`, () => {
    const answer = zone.answer({ name: row.ask[0], type: row.ask[1] })
    if (row.data === undefined) return assert.equal(answer, undefined)
    if (row.data === 'NXDOMAIN') return assert.deepEqual(answer, { rcode: 'NXDOMAIN', answers: [] })
    assert.equal(answer?.rcode, 'NOERROR')
    assert.deepEqual(
      answer?.answers.map((record) => ('data' in record ? record.data : undefined)),
      row.data,
    )
  })
}

test('the pods of a grid have the same names in each unit', () => {
  const headless: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'pg-svc',
      namespace: 'shop',
      labels: { 'superedge.io/grid-uniq-key': 'hall' },
    },
    spec: { clusterIP: 'None', ports: [{ name: 'pg', port: 5432, protocol: 'TCP' }] },
  }
  const nodes = { a1: { hall: 'shanghai' }, office: {} }
  const unitSlice: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    ports: [{ name: 'pg', port: 5432, protocol: 'TCP' }],
    metadata: { labels: { 'kubernetes.io/service-name': 'pg-svc' }, namespace: 'shop' },
    endpoints: [
      { addresses: ['10.42.7.3'], hostname: 'pg-shanghai-0', nodeName: 'a1' },
      { addresses: ['10.42.7.4'], hostname: 'pg-shanghai-1', nodeName: 'a1' },
      { addresses: ['10.42.8.3'], hostname: 'pg-office-0', nodeName: 'office' },
    ],
  }
  const zone = buildZone([headless], [unitSlice], {
    domain: 'cluster.local',
    ttlSeconds: 5,
    secondHostname: (each, endpoint) => unitHostname(each, endpoint, nodes),
  })
  const addressOf = (name: string): unknown[] =>
    (zone.answer({ name: `${name}.pg-svc.shop.svc.cluster.local`, type: 'A' })?.answers ?? []).map(
      (answer) => 'data' in answer && answer.data,
    )
  assert.deepEqual(addressOf('pg-0'), ['10.42.7.3'])
  assert.deepEqual(addressOf('pg-1'), ['10.42.7.4'])
  assert.deepEqual(addressOf('pg-shanghai-0'), ['10.42.7.3'])
  assert.deepEqual(addressOf('pg-office-0'), ['10.42.8.3'])
})
