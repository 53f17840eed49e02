import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim, Pod, StatefulSet, StatefulSetSpec } from '@skerry/api'
import { statefulPod } from './stateful-pods.ts'
import { planStatefulSet } from './stateful-set-plan.ts'
import { planClaimOwners } from './volume-claims.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [] } }
const current = { name: 'old', template }
const update = { name: 'new', template }

function statefulSet(spec: Partial<StatefulSetSpec> = {}): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'a', uid: 's' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'db' } },
      template,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      ...spec,
    },
  }
}

type State = 'ready' | 'pending' | 'failed' | 'going'

function pod(set: StatefulSet, ordinal: number, revision: string, state: State = 'ready'): Pod {
  const made = statefulPod(set, ordinal, { name: revision, template })
  const isReady = state === 'ready' || state === 'going'
  return {
    ...made,
    metadata: { ...made.metadata, ...(state === 'going' ? { deletionTimestamp: 'now' } : {}) },
    status: {
      phase: state === 'failed' ? 'Failed' : isReady ? 'Running' : 'Pending',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  }
}

/** `create 0`, `delete db-1`, … */
function steps(set: StatefulSet, pods: readonly Pod[]): string[] {
  const claims = () => undefined
  const view = { set, pods, claims, current, update, collisionCount: 0, nowMs }
  return planStatefulSet(view).steps.map((step) => {
    switch (step.type) {
      case 'create':
        return `create ${step.ordinal} ${step.pod.metadata.labels?.['controller-revision-hash']}`
      case 'delete':
        return `delete ${step.pod.metadata.name}`
      default:
        return step.type
    }
  })
}

const pods = (set: StatefulSet, ...given: [number, string, State?][]): Pod[] =>
  given.map(([ordinal, revision, state]) => pod(set, ordinal, revision, state))

const ordered = statefulSet()
const parallel = statefulSet({ podManagementPolicy: 'Parallel' })
const partitioned = statefulSet({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
})
const onDelete = statefulSet({ updateStrategy: { type: 'OnDelete' } })
const two = statefulSet({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: 2 } },
})
const shifted = statefulSet({ ordinals: { start: 5 }, replicas: 1 })

const cases: [string, StatefulSet, Pod[], string[]][] = [
  ['starts with the first', ordered, [], ['create 0 new']],
  ['waits for the first', ordered, pods(ordered, [0, 'new', 'pending']), []],
  ['goes on with the second', ordered, pods(ordered, [0, 'new']), ['create 1 new']],
  [
    'replaces a failed pod',
    ordered,
    pods(ordered, [0, 'new', 'failed'], [1, 'new']),
    ['delete db-0'],
  ],
  [
    'in parallel makes all at once',
    parallel,
    pods(parallel, [1, 'new', 'pending']),
    ['create 0 new', 'create 2 new'],
  ],
  ['starts at its first ordinal', shifted, [], ['create 5 new']],
  [
    'scales down from the last',
    ordered,
    pods(ordered, [0, 'new'], [1, 'new'], [2, 'new'], [3, 'new'], [4, 'new']),
    ['delete db-4'],
  ],
  [
    'waits for one that goes',
    ordered,
    pods(ordered, [0, 'new'], [1, 'new'], [2, 'new'], [3, 'new'], [4, 'new', 'going']),
    [],
  ],
  [
    'updates from the last',
    ordered,
    pods(ordered, [0, 'old'], [1, 'old'], [2, 'old']),
    ['delete db-2'],
  ],
  [
    'updates the next when the last is new',
    ordered,
    pods(ordered, [0, 'old'], [1, 'old'], [2, 'new']),
    ['delete db-1'],
  ],
  [
    'leaves those below the partition',
    partitioned,
    pods(partitioned, [0, 'old'], [1, 'old'], [2, 'new']),
    [],
  ],
  [
    'makes those below the partition again as they were',
    partitioned,
    pods(partitioned, [0, 'old'], [2, 'new']),
    ['create 1 old'],
  ],
  ['leaves updates to its user', onDelete, pods(onDelete, [0, 'old'], [1, 'old'], [2, 'old']), []],
  [
    'updates as many as may be unavailable',
    two,
    pods(two, [0, 'old'], [1, 'old'], [2, 'old']),
    ['delete db-2', 'delete db-1'],
  ],
]
for (const [name, set, given, expected] of cases) {
  test(`a stateful set ${name}`, () => assert.deepEqual(steps(set, given), expected))
}

function claim(...owners: ('set' | 'pod')[]): PersistentVolumeClaim {
  const ownerReferences = owners.map((owner) => ({
    ...(owner === 'set'
      ? { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's' }
      : { apiVersion: 'v1', kind: 'Pod', name: 'db-0', uid: 'p' }),
    controller: true,
  }))
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { ownerReferences } }
}

const retention: [string, string, boolean, ('set' | 'pod')[], string[] | undefined][] = [
  ['Retain', 'Retain', false, [], undefined],
  ['Retain', 'Retain', false, ['set'], []],
  ['Delete', 'Retain', false, [], ['StatefulSet']],
  ['Delete', 'Retain', true, ['set'], undefined],
  ['Retain', 'Delete', false, [], undefined],
  ['Retain', 'Delete', true, [], ['Pod']],
  ['Delete', 'Delete', true, ['set'], ['Pod']],
  ['Delete', 'Delete', false, ['pod'], ['StatefulSet']],
]
for (const [whenDeleted, whenScaled, isScaledDown, owners, expected] of retention) {
  const scaled = isScaledDown ? 'scaled down' : 'wanted'
  test(`a claim of ${owners.join() || 'nobody'}, ${scaled}, under ${whenDeleted}/${whenScaled} belongs to ${expected?.join() ?? 'the same'}`, () => {
    const policy = { whenDeleted, whenScaled }
    const set = statefulSet({ persistentVolumeClaimRetentionPolicy: policy })
    const made = pod(set, 0, 'new')
    const user = { ...made, metadata: { ...made.metadata, uid: 'p' } }
    const next = planClaimOwners(claim(...owners), { set, pod: user, isScaledDown })
    assert.deepEqual(
      next?.map(({ kind }) => kind),
      expected,
    )
  })
}
