import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Pod, Service } from '@skerry/api'
import { podEndpoints } from './endpoint-plan.ts'
import { planSlices } from './slice-plan.ts'
import { endpointsPerSliceMax } from '../limits-table.ts'

const service: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: {
    clusterIP: '10.43.0.9',
    selector: { app: 'web' },
    ports: [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }],
  },
}

interface PodDraft {
  isReady?: boolean
  isDeleted?: boolean
  phase?: string
  ip?: string
  port?: number
}

function pod(name: string, draft: PodDraft = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      ...(draft.isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      nodeName: 'n',
      containers: [
        { name: 'c', image: 'i', ports: [{ name: 'web', containerPort: draft.port ?? 8080 }] },
      ],
    },
    status: {
      phase: draft.phase ?? 'Running',
      podIP: draft.ip ?? `10.42.0.${name.length}`,
      conditions: [{ type: 'Ready', status: draft.isReady === false ? 'False' : 'True' }],
    },
  }
}

const endpointsOf = (of: Service, pods: Pod[]): ReturnType<typeof podEndpoints> =>
  podEndpoints(of, pods, () => undefined)

const conditions: { name: string; draft: PodDraft; service?: Service; expected: unknown }[] = [
  { name: 'a ready pod', draft: {}, expected: { ready: true, serving: true, terminating: false } },
  {
    name: 'a pod that is not ready',
    draft: { isReady: false },
    expected: { ready: false, serving: false, terminating: false },
  },
  {
    name: 'a pod on its way out still serves',
    draft: { isDeleted: true },
    expected: { ready: false, serving: true, terminating: true },
  },
  {
    name: 'publishNotReadyAddresses shows every pod as ready',
    draft: { isReady: false },
    service: { ...service, spec: { ...service.spec, publishNotReadyAddresses: true } },
    expected: { ready: true, serving: false, terminating: false },
  },
  { name: 'a finished pod is not an endpoint', draft: { phase: 'Succeeded' }, expected: undefined },
  { name: 'a pod without an address is not an endpoint', draft: { ip: '' }, expected: undefined },
]

for (const row of conditions) {
  test(row.name, () => {
    const [found] = endpointsOf(row.service ?? service, [pod('p', row.draft)])
    assert.deepEqual(found?.endpoint.conditions, row.expected)
  })
}

test('a named target port is the number each pod gives it, in a slice of its own', () => {
  const plan = planSlices(service, endpointsOf(service, [pod('a'), pod('bb', { port: 9090 })]), [])
  assert.deepEqual(
    plan.create.map((slice) => slice.ports?.map((port) => port.port)),
    [[8080], [9090]],
  )
})

const distributions: { distribution: string | undefined; hints: unknown }[] = [
  { distribution: undefined, hints: undefined },
  { distribution: 'PreferClose', hints: { forZones: [{ name: 'east' }] } },
  { distribution: 'PreferSameZone', hints: { forZones: [{ name: 'east' }] } },
  {
    distribution: 'PreferSameNode',
    hints: { forZones: [{ name: 'east' }], forNodes: [{ name: 'n' }] },
  },
]

for (const { distribution, hints } of distributions) {
  test(`hints say which zones and nodes should use an endpoint first: ${distribution ?? 'everybody alike'}`, () => {
    const labels = { 'topology.kubernetes.io/zone': 'east' }
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels } }
    const near = distribution === undefined ? {} : { trafficDistribution: distribution }
    const of = { ...service, spec: { ...service.spec, ...near } }
    const [found] = podEndpoints(of, [pod('p')], () => node)
    assert.deepEqual(found?.endpoint.hints, hints)
  })
}

test('a service without pods keeps one empty slice', () => {
  const plan = planSlices(service, [], [])
  assert.equal(plan.create.length, 1)
  assert.deepEqual(planSlices(service, [], named(plan.create)), {
    create: [],
    update: [],
    remove: [],
  })
})

test('one pod more changes one slice and leaves the full ones alone', () => {
  const many = Array.from({ length: endpointsPerSliceMax + 1 }, (_, index) => pod(`p${index}`))
  const existing = named(planSlices(service, endpointsOf(service, many), []).create)
  assert.deepEqual(
    existing.map((slice) => slice.endpoints?.length),
    [endpointsPerSliceMax, 1],
  )
  const plan = planSlices(service, endpointsOf(service, [...many, pod('new')]), existing)
  assert.equal(plan.create.length, 0)
  assert.deepEqual(
    plan.update.map((slice) => slice.metadata.name),
    ['web-1'],
  )
})

test('a state that is already as wanted needs no change', () => {
  const endpoints = endpointsOf(service, [pod('a'), pod('bb')])
  const existing = named(planSlices(service, endpoints, []).create)
  assert.deepEqual(planSlices(service, endpoints, existing), { create: [], update: [], remove: [] })
})

/** Gives slices names, as the server does. */
function named(slices: readonly EndpointSlice[]): EndpointSlice[] {
  return slices.map((slice, index) => ({
    ...slice,
    metadata: { ...slice.metadata, name: `web-${index}` },
  }))
}
