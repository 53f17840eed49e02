import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { nativeInterpreter } from './native-interpreter.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

function deployment(podSpec: object, replicas = 3): AnyObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'shop', name: 'web', generation: 1 },
    spec: { replicas, template: { spec: podSpec } },
  }
}

function container(requests: object, limits: object = {}) {
  return { name: 'a', resources: { requests, limits } }
}

async function requestOf(podSpec: object): Promise<unknown> {
  const found = await nativeInterpreter.replicas(deployment(podSpec), soon())
  return found?.requirements?.resourceRequest
}

test('a pod asks for the sum of its containers, or for its greatest first step', async () => {
  const containers = [
    container({ cpu: '250m', memory: '64Mi' }),
    container({ cpu: 0.5 }, { cpu: '2', memory: '1Gi', 'example.com/gpu': '1' }),
  ]
  assert.deepEqual(await requestOf({ containers }), {
    cpu: '750m',
    memory: '1088Mi',
    'example.com/gpu': '1',
  })
  const initContainers = [container({ cpu: '4' }), container({ memory: '1Mi' })]
  assert.deepEqual(await requestOf({ containers, initContainers, overhead: { cpu: '1' } }), {
    cpu: '5',
    memory: '1088Mi',
    'example.com/gpu': '1',
  })
})

test('resources that no scheduler counts are not requested, and an empty request is not a requirement', async () => {
  assert.equal(
    await requestOf({ containers: [container({ 'requests.x/y': '1', odd: '1' })] }),
    undefined,
  )
  assert.deepEqual(await nativeInterpreter.replicas(deployment({ containers: [] }), soon()), {
    replicas: 3,
  })
})

test('constraints on where a pod may run are part of its requirements', async () => {
  const terms = { nodeSelectorTerms: [{ matchFields: [] }] }
  const tolerations = [{ key: 'edge', operator: 'Exists' }]
  const found = await nativeInterpreter.replicas(
    deployment({
      nodeSelector: { disk: 'ssd' },
      tolerations,
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: terms,
          preferredDuringSchedulingIgnoredDuringExecution: [],
        },
      },
    }),
    soon(),
  )
  assert.deepEqual(found?.requirements, {
    nodeClaim: { nodeSelector: { disk: 'ssd' }, tolerations, hardNodeAffinity: terms },
  })
})

test('an interpreter lists the questions about a kind that it can answer', () => {
  const valve: AnyObject = { apiVersion: 'example.com/v1', kind: 'Valve', metadata: { name: 'a' } }
  const known = (object: AnyObject) =>
    (['InterpretReplica', 'ReviseReplica', 'Retain', 'InterpretStatus'] as const).filter((each) =>
      nativeInterpreter.knows(object, each),
    )
  assert.deepEqual(known(deployment({})), [
    'InterpretReplica',
    'ReviseReplica',
    'Retain',
    'InterpretStatus',
  ])
  assert.deepEqual(known({ ...valve, apiVersion: 'v1', kind: 'Pod' }), [
    'InterpretReplica',
    'Retain',
    'InterpretStatus',
  ])
  assert.deepEqual(known(valve), ['InterpretStatus'])
})
