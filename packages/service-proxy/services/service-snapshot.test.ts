import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '@skerry/api'
import { presumeReady } from './service-snapshot.ts'

type Condition = 'ready' | 'unready' | 'ending'

function sliceOf(service: string, conditions: readonly Condition[]): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: {
      name: `${service}-1`,
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': service },
    },
    endpoints: conditions.map((condition, index) => ({
      addresses: [`10.42.0.${index + 1}`],
      conditions: { ready: condition === 'ready', terminating: condition === 'ending' },
    })),
  }
}

const cases: readonly [name: string, slices: EndpointSlice[], readyOfEach: boolean[][]][] = [
  [
    'an endpoint that was ready serves alone',
    [sliceOf('a', ['ready', 'unready'])],
    [[true, false]],
  ],
  ['where none was ready all are tried', [sliceOf('a', ['unready', 'unready'])], [[true, true]]],
  ['one that was ending is not', [sliceOf('a', ['unready', 'ending'])], [[true, false]]],
  [
    'a ready one in another slice of the service is enough',
    [sliceOf('a', ['ready']), sliceOf('a', ['unready'])],
    [[true], [false]],
  ],
  [
    'other services count for themselves',
    [sliceOf('a', ['ready']), sliceOf('b', ['unready'])],
    [[true], [true]],
  ],
]

for (const [name, slices, readyOfEach] of cases) {
  test(`from a snapshot: ${name}`, () => {
    const { slices: presumed } = presumeReady({ services: [], slices })
    const ready = presumed.map(({ endpoints }) =>
      endpoints?.map(({ conditions }) => conditions?.ready === true),
    )
    assert.deepEqual(ready, readyOfEach)
  })
}
