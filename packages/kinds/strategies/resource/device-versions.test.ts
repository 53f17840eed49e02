import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { claimFromV1, claimToV1, sliceFromV1, sliceToV1 } from './device-versions.ts'

function claim(...requests: object[]): AnyObject {
  return { apiVersion: '', kind: 'ResourceClaim', metadata: {}, spec: { devices: { requests } } }
}

function slice(...devices: object[]): AnyObject {
  return { apiVersion: '', kind: 'ResourceSlice', metadata: {}, spec: { devices } }
}

test('a claim of v1beta1 is the same claim in v1, there and back', () => {
  const table: [v1beta1: object, v1: object][] = [
    [
      { name: 'a', deviceClassName: 'c', count: 2 },
      { name: 'a', exactly: { deviceClassName: 'c', count: 2 } },
    ],
    [
      { name: 'a', deviceClassName: '', firstAvailable: [{ name: 'b' }] },
      { name: 'a', firstAvailable: [{ name: 'b' }] },
    ],
    [{ name: 'a', deviceClassName: '' }, { name: 'a' }],
  ]
  for (const [beta, stable] of table) {
    const there = claim(structuredClone(beta))
    claimToV1(there)
    assert.deepEqual(there, claim(stable))
    claimFromV1(there)
    assert.deepEqual(there, claim(beta))
  }
})

test('a device of v1beta1 has its facts under basic', () => {
  const object = slice({ name: 'a', basic: { allNodes: true } }, { name: 'b', basic: {} })
  const before = structuredClone(object)
  sliceToV1(object)
  assert.deepEqual(object, slice({ name: 'a', allNodes: true }, { name: 'b' }))
  sliceFromV1(object)
  assert.deepEqual(object, before)
})
