import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod } from '@skerry/api'
import type { ComputeResources, ObservedContainer, ObservedPod } from '../pod/observed-pod.ts'
import { refuseResize } from './admit-pod.ts'
import { decideResize, resizeOf } from './resize.ts'

const has: ComputeResources = { requests: { cpu: '100m' }, limits: { memory: '64Mi' } }

function observed(resources: ComputeResources | undefined): ObservedContainer {
  return {
    id: 'c1',
    name: 'main',
    restartCount: 0,
    sandboxId: 's0',
    state: 'running',
    createdAtMs: 0,
    startedAtMs: 0,
    finishedAtMs: 0,
    exitCode: 0,
    reason: '',
    message: '',
    specHash: '',
    image: 'app:1',
    imageId: '',
    ...(resources ? { resources } : {}),
  }
}

function container(cpu: string, fields: Partial<Container> = {}): Container {
  const resources = { requests: { cpu }, limits: { memory: '64Mi' } }
  return { name: 'main', image: 'app:1', resources, ...fields }
}

const restartsForCpu = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
const restartsForMemory = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }]

test('a running container gets other resources in place, or by a restart where it asks for one', () => {
  const none = new Map<string, ComputeResources>()
  const cases = [
    ['as it was', container('100m'), observed(has), 'none'],
    ['more cpu', container('200m'), observed(has), 'update'],
    [
      'restart for cpu',
      container('200m', { resizePolicy: restartsForCpu }),
      observed(has),
      'restart',
    ],
    [
      'restart for what did not change',
      container('200m', { resizePolicy: restartsForMemory }),
      observed(has),
      'update',
    ],
    ['made before this was noted', container('200m'), observed(undefined), 'none'],
  ] as const
  for (const [what, wanted, running, expected] of cases)
    assert.equal(resizeOf(wanted, running, none), expected, what)
  const applied = new Map([['c1', { ...has, requests: { cpu: '200m' } }]])
  assert.equal(resizeOf(container('200m'), observed(has), applied), 'none', 'already given')
})

test('a resize that the node has no room for waits, and the pod goes on with its former resources', () => {
  const pod = (cpu: string): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: cpu },
    spec: { containers: [container(cpu)] },
  })
  const facts: { observed: ObservedPod; applied: Map<string, ComputeResources> } = {
    observed: { sandboxes: [], containers: [observed(has)] },
    applied: new Map(),
  }
  const decide = (cpu: string) =>
    decideResize(pod(cpu), facts, (resized) =>
      refuseResize({
        pod: resized,
        others: [pod('700m')],
        allocatable: { cpuMilli: 1000, memoryBytes: 1e9, ephemeralStorageBytes: 1e9 },
        podsMax: 10,
      }),
    )
  const cpuOf = (decided: Pod) => decided.spec?.containers[0]?.resources?.requests?.['cpu']
  assert.deepEqual([decide('300m').pending, cpuOf(decide('300m').pod)], [undefined, '300m'])
  assert.deepEqual(
    [decide('400m').pending?.reason, cpuOf(decide('400m').pod)],
    ['Deferred', '100m'],
  )
  assert.deepEqual([decide('2').pending?.reason, cpuOf(decide('2').pod)], ['Infeasible', '100m'])
})
