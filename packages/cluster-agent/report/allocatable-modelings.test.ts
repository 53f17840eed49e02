import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@skerry/api'
import { defaultResourceModels } from '@skerry/fleet-kinds'
import { allocatableModelings } from './allocatable-modelings.ts'

function node(name: string, cpu: string, memory: string, pods = '110'): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { allocatable: { cpu, memory, pods } },
  }
}

function pod(nodeName: string, cpu: string, phase = 'Running'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { nodeName, containers: [{ name: 'c', resources: { requests: { cpu } } }] },
    status: { phase },
  }
}

test('a node counts in the highest grade for which it has processors and memory still free', () => {
  const nodes = [
    node('small', '500m', '64Gi'),
    node('uneven', '8', '4Gi'),
    node('whole', '4', '32Gi'),
    node('used', '4', '32Gi'),
    node('huge', '256', '2Ti'),
    node('full', '4', '32Gi', '1'),
  ]
  const pods = [pod('used', '1500m'), pod('whole', '3', 'Succeeded'), pod('full', '0')]
  const counts = allocatableModelings(defaultResourceModels, nodes, pods)
  assert.deepEqual(
    counts.filter(({ count }) => count > 0),
    [
      { grade: 0, count: 1 },
      { grade: 1, count: 1 },
      { grade: 2, count: 1 },
      { grade: 3, count: 1 },
      { grade: 8, count: 1 },
    ],
  )
  assert.equal(counts.length, 9)
})
