import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeClusterObject } from './edge-cluster.ts'
import { removalPatch } from './edge-machines.ts'

const credentials = { name: 'ssh' }
const range = { addresses: ['10.0.0.[12-14]', 'till'], credentials, hostKeys: ['SHA256:x'] }
const single = { addresses: ['10.0.0.20'], role: 'Node' as const, credentials }
const edge: EdgeClusterObject = {
  metadata: {
    name: 'a',
    namespace: 'default',
    resourceVersion: '7',
    annotations: { 'hub.skerry.io/dead': '10.0.0.9' },
  },
  spec: { machines: [range, single] },
}

const marks = '/metadata/annotations/hub.skerry.io~1dead'
const blocks = '/spec/machines'
const before = { op: 'test', path: blocks, value: [range, single] }

test('a machine leaves its range, and the others stay', () => {
  const left = [{ ...range, addresses: ['10.0.0.12', '10.0.0.14', 'till'] }, single]
  assert.deepEqual(removalPatch(edge, { address: '10.0.0.13', isDead: false }), [
    before,
    { op: 'replace', path: blocks, value: left },
  ])
  assert.deepEqual(removalPatch(edge, { address: '10.0.0.20', isDead: false }), [
    before,
    { op: 'replace', path: blocks, value: [range] },
  ])
})

test('a machine that takes the place of a dead one has its block, but not its host keys', () => {
  const dead = { address: 'till', isDead: true }
  const next = { address: ' 10.0.0.30', acceptsNewKeys: true }
  const machines = [
    { ...range, addresses: ['10.0.0.[12-14]'] },
    single,
    { addresses: ['10.0.0.30'], credentials, acceptNewHostKeys: true },
  ]
  assert.deepEqual(removalPatch(edge, dead, next), [
    { op: 'test', path: marks, value: '10.0.0.9' },
    { op: 'replace', path: marks, value: '10.0.0.9,till' },
    before,
    { op: 'replace', path: blocks, value: machines },
  ])
})

test('a machine that is leaving already can be called dead, and the others stay as they are', () => {
  assert.deepEqual(removalPatch(edge, { address: '10.0.0.8', isDead: true }), [
    { op: 'test', path: marks, value: '10.0.0.9' },
    { op: 'replace', path: marks, value: '10.0.0.9,10.0.0.8' },
  ])
})

test('the first machine that is called dead makes the mark', () => {
  const { annotations: _, ...bare } = edge.metadata
  const dead = { address: '10.0.0.8', isDead: true }
  assert.deepEqual(removalPatch({ ...edge, metadata: bare }, dead), [
    { op: 'add', path: '/metadata/annotations', value: { 'hub.skerry.io/dead': '10.0.0.8' } },
  ])
  const others = { ...bare, annotations: { 'example.com/a': 'b' } }
  assert.deepEqual(removalPatch({ ...edge, metadata: others }, dead), [
    { op: 'add', path: marks, value: '10.0.0.8' },
  ])
})
