import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { callApi, startTestApiServer, type TestApiServer } from '@skerry/testing'
import { parseRange } from './address-range.ts'

let server: TestApiServer

before(async () => {
  server = await startTestApiServer()
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

const services = '/api/v1/namespaces/default/services'

async function create(name: string, spec: Record<string, unknown>) {
  const body = { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } }
  return callApi(server.transport, { method: 'POST', path: services, body })
}

test('a service gets an address of its own and keeps it through updates', async () => {
  const { body: one } = await create('one', {})
  const { body: two } = await create('two', {})
  assert.match(one.spec.clusterIP, /^10\.43\./)
  assert.deepEqual(one.spec.clusterIPs, [one.spec.clusterIP])
  assert.deepEqual([one.spec.ipFamilies, one.spec.ipFamilyPolicy], [['IPv4'], 'SingleStack'])
  assert.notEqual(one.spec.clusterIP, two.spec.clusterIP)
  const replaced = await callApi(server.transport, {
    method: 'PUT',
    path: `${services}/one`,
    body: { metadata: { name: 'one' }, spec: { ports: [{ port: 81 }] } },
  })
  assert.equal(replaced.body.spec?.clusterIP, one.spec.clusterIP, replaced.text)
})

test('an address that cannot be allocated is refused in upstream’s words', async () => {
  const { body: first } = await create('first', {
    type: 'NodePort',
    ports: [{ port: 1, nodePort: 30100 }],
  })
  const table: readonly [Record<string, unknown>, string][] = [
    [
      { clusterIP: '1.2.3.4' },
      'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range',
    ],
    [
      { clusterIP: first.spec.clusterIP },
      `spec.clusterIPs: Invalid value: ["${first.spec.clusterIP}"]: failed to allocate IP ${first.spec.clusterIP}: provided IP is already allocated`,
    ],
    [
      { type: 'NodePort', ports: [{ port: 1, nodePort: 80 }] },
      'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    ],
    [
      { type: 'NodePort', ports: [{ port: 1, nodePort: 30100 }] },
      'spec.ports[0].nodePort: Invalid value: 30100: provided port is already allocated',
    ],
    [
      { ipFamilyPolicy: 'RequireDualStack' },
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      { ipFamilies: ['IPv6'] },
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ],
  ]
  for (const [spec, message] of table) {
    const { status, body } = await create('refused', spec)
    assert.deepEqual([status, body.message], [422, `Service "refused" is invalid: ${message}`])
  }
})

test('an address is free again when its service is deleted or changes its type', async () => {
  const { body } = await create('short', {})
  const { clusterIP } = body.spec
  await callApi(server.transport, { method: 'DELETE', path: `${services}/short` })
  assert.equal((await create('next', { clusterIP })).status, 201)
})

test('a dry run allocates nothing', async () => {
  const clusterIP = '10.43.0.77'
  const body = { metadata: { name: 'dry' }, spec: { clusterIP, ports: [{ port: 80 }] } }
  const path = `${services}?dryRun=All`
  const dry = await callApi(server.transport, { method: 'POST', path, body })
  assert.equal(dry.body.spec.clusterIP, clusterIP)
  assert.equal((await create('wet', { clusterIP })).status, 201)
})

test('headless services have no address, and node ports share a number between protocols', async () => {
  const { body: headless } = await create('headless', { clusterIP: 'None', selector: { a: 'b' } })
  assert.deepEqual([headless.spec.clusterIPs, headless.spec.ipFamilies], [['None'], ['IPv4']])
  const ports = [
    { name: 'udp', port: 53, protocol: 'UDP' },
    { name: 'tcp', port: 53 },
  ]
  const { body: dns } = await create('dns', { type: 'NodePort', ports })
  assert.equal(dns.spec.ports[0].nodePort, dns.spec.ports[1].nodePort)
  const { body: balanced } = await create('lb', {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
  })
  assert.ok(balanced.spec.healthCheckNodePort >= 30000)
})

test('a range gives out every address but its ends, and then none', () => {
  const random = seededRandom(1)
  for (const [cidr, count] of [
    ['10.0.0.0/29', 6],
    ['fd00::/125', 7],
  ] as const) {
    const range = parseRange(cidr)
    const taken = new Set<string>()
    for (let at = 0; at < count; at += 1) {
      const picked = range.pick((address) => taken.has(address), random)
      assert.ok(
        picked !== undefined && range.contains(picked) && !taken.has(picked),
        `${cidr} ${picked}`,
      )
      taken.add(picked)
    }
    assert.equal(
      range.pick((address) => taken.has(address), random),
      undefined,
    )
  }
  assert.throws(() => parseRange('10.0.0.0'), RangeError)
})

test('other ranges give addresses while they are ready; an address that is held elsewhere is taken', async () => {
  const ranges = '/apis/networking.k8s.io/v1/servicecidrs'
  const body = { metadata: { name: 'more' }, spec: { cidrs: ['10.99.0.0/28'] } }
  await callApi(server.transport, { method: 'POST', path: ranges, body })
  const early = await create('ranged', { clusterIP: '10.99.0.3' })
  assert.match(early.text, /the provided network does not match the current range/)
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: '',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const patched = await callApi(server.transport, {
    method: 'PATCH',
    path: `${ranges}/more/status`,
    body: { status: { conditions: [ready] } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  assert.equal(patched.status, 200, patched.text)
  const { status, body: made } = await create('ranged', { clusterIP: '10.99.0.3' })
  assert.deepEqual([status, made.spec?.clusterIPs], [201, ['10.99.0.3']])
  const parentRef = { group: 'example.com', resource: 'gateways', name: 'g' }
  const held = await callApi(server.transport, {
    method: 'POST',
    path: '/apis/networking.k8s.io/v1/ipaddresses',
    body: { metadata: { name: '10.99.0.4' }, spec: { parentRef } },
  })
  assert.equal(held.status, 201, held.text)
  const refused = await create('refused', { clusterIP: '10.99.0.4' })
  assert.match(refused.text, /provided IP is already allocated/)
})

const addresses = '/apis/networking.k8s.io/v1/ipaddresses'

test('a service and the IPAddress that gives it its address come and go together', async () => {
  const { body: made } = await create('paired', {})
  const path = `${addresses}/${made.spec.clusterIP}`
  const { body: record } = await callApi(server.transport, { path })
  assert.deepEqual(record.spec.parentRef, {
    group: '',
    name: 'paired',
    namespace: 'default',
    resource: 'services',
  })
  assert.equal(record.metadata.labels['ipaddress.kubernetes.io/managed-by'], 'ipallocator.k8s.io')
  await callApi(server.transport, { method: 'DELETE', path: `${services}/paired` })
  assert.equal((await callApi(server.transport, { path })).status, 404)
})

test('a service that becomes external gives its address and node port back, with their records', async () => {
  const ports = [{ port: 80, nodePort: 30300 }]
  const { body: made } = await create('changing', { type: 'NodePort', ports })
  const { clusterIP } = made.spec
  const record = '/registry/allocation.skerry.io/nodeports/30300'
  assert.ok((await server.store.get(record)).entry)
  const spec = { type: 'ExternalName', externalName: 'example.com' }
  const body = { ...made, spec }
  const path = `${services}/changing`
  const changed = await callApi(server.transport, { method: 'PUT', path, body })
  assert.equal(changed.status, 200, changed.text)
  assert.equal((await server.store.get(record)).entry, undefined)
  assert.equal((await callApi(server.transport, { path: `${addresses}/${clusterIP}` })).status, 404)
  assert.equal((await create('heir', { type: 'NodePort', clusterIP, ports })).status, 201)
})

test('the repair gives services of earlier versions records of their node ports, and removes others', async () => {
  const { signal } = new AbortController()
  const prefix = '/registry/allocation.skerry.io/nodeports/'
  const holders = async (): Promise<string[]> => {
    const { entries } = await server.store.list({ prefix })
    return entries.map(({ key, value }) => {
      const { spec } = JSON.parse(Buffer.from(value).toString())
      return `${key.slice(prefix.length)} ${spec.parentRef.name}`
    })
  }
  await create('older', { type: 'NodePort', ports: [{ port: 80, nodePort: 30310 }] })
  const before = await holders()
  assert.ok(before.includes('30310 older'))
  await server.store.write({ key: `${prefix}30310` })
  const { entry } = await server.store.get(`${prefix}${before[0]?.split(' ')[0]}`)
  assert.ok(entry)
  const orphan = Buffer.from(entry.value)
    .toString()
    .replaceAll(/"name":"[^"]*"/g, '"name":"gone"')
  await server.store.write({ key: `${prefix}30311`, value: Buffer.from(orphan) })
  await server.server.repairNodePorts(signal)
  assert.deepEqual(await holders(), before)
})
