import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '@skerry/api'
import { livingEndpoints } from './living-endpoints.ts'

function slice(...nodeNames: (string | undefined)[]): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: nodeNames.join('-') },
    addressType: 'IPv4',
    endpoints: nodeNames.map((nodeName, index) => ({
      addresses: [`10.42.0.${index}`],
      ...(nodeName === undefined ? {} : { nodeName }),
    })),
  }
}

test('endpoints on dead nodes are left out, and everything else stays the same object', () => {
  const mixed = slice('a', 'b', undefined)
  const other = slice('c')
  const living = livingEndpoints(new Set(['b']))
  const [left, same] = living([mixed, other])
  assert.deepEqual(
    left?.endpoints?.map(({ nodeName }) => nodeName),
    ['a', undefined],
  )
  assert.equal(same, other)
  assert.equal(living([mixed])[0], left, 'a slice is cut once, so that its service is planned once')
  const all = [mixed, other]
  assert.equal(livingEndpoints(new Set())(all), all)
})
