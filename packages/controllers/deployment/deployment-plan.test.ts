import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, DeploymentSpec, ReplicaSet } from '@skerry/api'
import { planDeployment, type DeploymentView } from './deployment-plan.ts'
import { annotationNames, nextRevision } from './revision-annotations.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const selector = { matchLabels: { app: 'web' } }
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image }] },
})

function deployment(spec: Partial<DeploymentSpec>, revision = '2'): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'a',
      uid: 'd',
      generation: 3,
      annotations: { [annotationNames.revision]: revision },
    },
    spec: {
      replicas: 10,
      selector,
      template: template('new'),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      ...spec,
    },
  }
}

interface Sizes {
  spec: number
  available?: number
  desired?: number
  max?: number
  revision?: number
}

function replicaSet(image: string, sizes: Sizes): ReplicaSet {
  const { spec, available = spec, desired = 10, max = 13, revision = 1 } = sizes
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: image,
      uid: image,
      creationTimestamp: `2026-01-01T00:0${revision}:00Z`,
      generation: 1,
      annotations: {
        [annotationNames.revision]: String(revision),
        [annotationNames.desiredReplicas]: String(desired),
        [annotationNames.maxReplicas]: String(max),
      },
    },
    spec: { replicas: spec, selector, template: template(image) },
    status: {
      replicas: spec,
      readyReplicas: available,
      availableReplicas: available,
      observedGeneration: 1,
    },
  }
}

/** `name:size` for each scaling, or the step's type. */
function steps(view: Partial<DeploymentView> & Pick<DeploymentView, 'deployment' | 'replicaSets'>) {
  return planDeployment({ oldPodsRunning: false, nowMs, ...view }).steps.flatMap((step) => {
    if (step.type === 'scale') {
      return step.scale.map(({ replicaSet, replicas }) => `${replicaSet.metadata.name}:${replicas}`)
    }
    if (step.type === 'create') return [`create:${step.replicaSet.spec?.replicas}`]
    if (step.type === 'remove')
      return step.replicaSets.map(({ metadata }) => `remove:${metadata.name}`)
    return [step.type]
  })
}

const old = (sizes: Sizes): ReplicaSet => replicaSet('old', sizes)
const current = (sizes: Sizes): ReplicaSet => replicaSet('new', { revision: 2, ...sizes })

const rolling: [string, ReplicaSet[], string[]][] = [
  ['begins with as many pods as surge allows', [old({ spec: 10 })], ['create:3']],
  [
    'takes old pods away down to the minimum',
    [old({ spec: 10 }), current({ spec: 3, available: 0 })],
    ['old:8'],
  ],
  [
    'grows into the room that old pods left',
    [old({ spec: 8 }), current({ spec: 3, available: 0 })],
    ['new:5'],
  ],
  [
    'waits while new pods are not available',
    [old({ spec: 8 }), current({ spec: 5, available: 0 })],
    [],
  ],
  [
    'removes broken old pods first',
    [old({ spec: 8, available: 6 }), current({ spec: 5, available: 5 })],
    ['old:3'],
  ],
  [
    'ends with nothing of the old',
    [old({ spec: 3 }), current({ spec: 10, available: 10 })],
    ['old:0'],
  ],
]
for (const [name, replicaSets, expected] of rolling) {
  test(`a rolling update ${name}`, () => {
    assert.deepEqual(steps({ deployment: deployment({}), replicaSets }), expected)
  })
}

const scaling: [string, number, ReplicaSet[], string[]][] = [
  [
    'grows all revisions in proportion',
    20,
    [old({ spec: 8 }), current({ spec: 5 })],
    ['old:14', 'new:9'],
  ],
  [
    'shrinks all revisions in proportion',
    5,
    [old({ spec: 8 }), current({ spec: 5 })],
    ['old:5', 'new:3'],
  ],
  ['gives all to the only one', 20, [old({ spec: 0 }), current({ spec: 10 })], ['new:20']],
]
for (const [name, replicas, replicaSets, expected] of scaling) {
  test(`scaling in the middle of a rollout ${name}`, () => {
    assert.deepEqual(steps({ deployment: deployment({ replicas }), replicaSets }), expected)
  })
}

test('recreate brings nothing new before everything old is gone', () => {
  const recreate = deployment({ strategy: { type: 'Recreate' } })
  const gone = old({ spec: 0 })
  assert.deepEqual(steps({ deployment: recreate, replicaSets: [old({ spec: 10 })] }), ['old:0'])
  assert.deepEqual(steps({ deployment: recreate, replicaSets: [gone], oldPodsRunning: true }), [])
  assert.deepEqual(steps({ deployment: recreate, replicaSets: [gone] }), ['create:10'])
})

test('a paused deployment scales but does not roll', () => {
  const paused = deployment({ paused: true, replicas: 4 })
  assert.deepEqual(steps({ deployment: paused, replicaSets: [old({ spec: 10 })] }), ['old:4'])
})

test('going back to an old template makes its replica set the newest revision and keeps the history', () => {
  const plan = planDeployment({
    deployment: deployment({ template: template('old') }),
    replicaSets: [old({ spec: 0 }), current({ spec: 10 })],
    oldPodsRunning: false,
    nowMs,
  })
  const [step] = plan.steps
  assert.equal(step?.type, 'annotate')
  assert.deepEqual(step?.type === 'annotate' && Reflect.get(step.patch, 'metadata').annotations, {
    [annotationNames.revision]: '3',
    [annotationNames.revisionHistory]: '1',
    [annotationNames.desiredReplicas]: '10',
    [annotationNames.maxReplicas]: '13',
  })
})

test('a complete rollout forgets revisions beyond the limit, the oldest first', () => {
  const done = deployment({ revisionHistoryLimit: 1 }, '4')
  done.status = {
    observedGeneration: 3,
    replicas: 10,
    updatedReplicas: 10,
    availableReplicas: 10,
  }
  const replicaSets = [
    replicaSet('v1', { spec: 0, revision: 1 }),
    replicaSet('v2', { spec: 0, revision: 2 }),
    replicaSet('v3', { spec: 0, revision: 3 }),
    replicaSet('new', { spec: 10, revision: 4 }),
  ]
  assert.deepEqual(steps({ deployment: done, replicaSets }), ['remove:v1', 'remove:v2'])
})

test('a rollout that does not move is reported after its deadline', () => {
  const stuck = deployment({ progressDeadlineSeconds: 60 })
  const since = '2026-01-01T11:50:00Z'
  stuck.status = {
    replicas: 13,
    updatedReplicas: 5,
    readyReplicas: 8,
    availableReplicas: 8,
    conditions: [
      {
        type: 'Progressing',
        status: 'True',
        reason: 'ReplicaSetUpdated',
        lastUpdateTime: since,
        lastTransitionTime: since,
      },
    ],
  }
  const replicaSets = [old({ spec: 8 }), current({ spec: 5, available: 0 })]
  const plan = planDeployment({ deployment: stuck, replicaSets, oldPodsRunning: false, nowMs })
  const condition = plan.status.conditions?.find(({ type }) => type === 'Progressing')
  assert.equal(condition?.status, 'False')
  assert.equal(condition?.reason, 'ProgressDeadlineExceeded')
  assert.equal(condition?.message, 'ReplicaSet "new" has timed out progressing.')
})

test('equal templates have one name, whatever the order of their fields', () => {
  const name = (given: DeploymentSpec['template']): string | undefined => {
    const plan = planDeployment({
      deployment: deployment({ template: given }),
      replicaSets: [],
      oldPodsRunning: false,
      nowMs,
    })
    const [step] = plan.steps
    return step?.type === 'create' ? step.replicaSet.metadata.name : undefined
  }
  const first = name({ spec: { containers: [{ name: 'a', image: 'b' }] }, metadata: {} })
  const second = name({ metadata: {}, spec: { containers: [{ image: 'b', name: 'a', env: [] }] } })
  assert.ok(first)
  assert.equal(first, second)
})

test('a revision beyond the range of a double is followed by the next one', () => {
  const adopted = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { annotations: { [annotationNames.revision]: '3546343826724305832' } },
  }
  assert.equal(nextRevision([adopted]), 3_546_343_826_724_305_833n)
})
