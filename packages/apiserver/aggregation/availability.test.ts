import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '@skerry/api'
import { passedAvailability, unreachability, withAvailability } from './availability.ts'

const reference = { namespace: 'shop', name: 'api', port: 443 }
const service = (spec: object): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'api', namespace: 'shop' },
  spec,
})
const slice = (endpoints: EndpointSlice['endpoints'], portName: string): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'api-1' },
  addressType: 'IPv4',
  endpoints,
  ports: [{ name: portName, port: 8443 }],
})
const clusterIp = service({ ports: [{ name: 'https', port: 443 }] })
const ready = [{ addresses: ['10.1.0.2'] }]
const unready = [{ addresses: ['10.1.0.2'], conditions: { ready: false } }]

const cases: [
  name: string,
  service: Service | undefined,
  slices: EndpointSlice[],
  expected: string,
][] = [
  ['no service', undefined, [], 'ServiceNotFound: service/api in "shop" is not present'],
  [
    'another port',
    service({ ports: [{ port: 80 }] }),
    [],
    'ServicePortError: service/api in "shop" is not listening on port 443',
  ],
  [
    'no slice',
    clusterIp,
    [],
    'EndpointsNotFound: cannot find endpointslices for service/api in "shop"',
  ],
  [
    'nobody ready',
    clusterIp,
    [slice(unready, 'https')],
    'MissingEndpoints: endpointslices for service/api in "shop" have no addresses with port name "https"',
  ],
  [
    'ready on another port',
    clusterIp,
    [slice(ready, 'metrics')],
    'MissingEndpoints: endpointslices for service/api in "shop" have no addresses with port name "https"',
  ],
  ['ready', clusterIp, [slice(ready, 'https')], 'undefined: undefined'],
  ['by name elsewhere', service({ type: 'ExternalName' }), [], 'undefined: undefined'],
]

test("an unavailable extension server is reported in upstream's words", () => {
  for (const [name, found, slices, expected] of cases) {
    const availability = unreachability(reference, found, slices)
    assert.equal(`${availability?.reason}: ${availability?.message}`, expected, name)
  }
})

test('the time of the condition changes only with its status', () => {
  const first = withAvailability([], passedAvailability, 't1')
  assert.equal(first?.[0]?.lastTransitionTime, 't1')
  assert.equal(withAvailability(first ?? [], passedAvailability, 't2'), undefined)
  const failed = { status: 'False', reason: 'X', message: '' } as const
  assert.equal(withAvailability(first ?? [], failed, 't2')?.[0]?.lastTransitionTime, 't2')
  const other = { ...passedAvailability, message: 'other' }
  assert.equal(withAvailability(first ?? [], other, 't2')?.[0]?.lastTransitionTime, 't1')
})
