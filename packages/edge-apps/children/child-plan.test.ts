import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotations, withApplied, type Child, type WantedChild } from './child.ts'
import { planChildren, type ChildrenView } from './child-plan.ts'
import { groupPolicyOf } from './group-policy.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const owner = {
  apiVersion: 'superedge.io/v1',
  kind: 'DeploymentGrid',
  metadata: { name: 'web', namespace: 'default', uid: 'u-1' },
}

function manifest(group: string, image: string): Child {
  return withApplied(group, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `web-${group}`, namespace: 'default' },
    spec: { replicas: 1, image },
  })
}

function wanted(group: string, image = 'a:1'): WantedChild {
  return { group, kind: 'Deployment', name: `web-${group}`, manifest: manifest(group, image) }
}

type Progress = 'done' | 'busy'

/** A child as the server has it: done with its last update, or not. */
function child(
  group: string,
  progress: Progress,
  image = 'a:1',
  notes: Record<string, string> = {},
): Child {
  const { metadata, ...rest } = manifest(group, image)
  const available = progress === 'done' ? 1 : 0
  return {
    ...rest,
    metadata: { ...metadata, generation: 1, annotations: { ...metadata.annotations, ...notes } },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      availableReplicas: available,
    },
  }
}

function view(changes: Partial<ChildrenView>): ChildrenView {
  const names = changes.wanted?.map(({ group }) => group) ?? []
  return {
    owner,
    groups: new Map(
      names.map((name) => [name, { name, nodeSelector: {}, nodes: 1, readyNodes: 1 }]),
    ),
    wanted: [],
    children: [],
    policy: groupPolicyOf({}),
    nowMs,
    named: () => undefined,
    asksToBelong: () => false,
    groupOf: ({ metadata }) => metadata.annotations?.[annotations.group],
    isAsApplied: () => false,
    ...changes,
  }
}

/** The plan in short: what is done with whom, and the phase of each group. */
function shortPlan(changes: Partial<ChildrenView>): {
  acts: string[]
  phases: string[]
  nextMs?: number
} {
  const { acts, states, nextMs } = planChildren(view(changes))
  const nameOf = (act: (typeof acts)[number]): string | undefined =>
    ('manifest' in act ? act.manifest : act.child).metadata.name
  return {
    acts: acts.map((act) => `${act.act} ${nameOf(act)}`),
    phases: states.map(({ name, phase, reason }) => `${name} ${phase} ${reason ?? ''}`.trim()),
    ...(nextMs === undefined ? {} : { nextMs }),
  }
}

test('an update goes through the groups by the share that the policy allows', () => {
  const policy = groupPolicyOf({ maxUpdating: '50%' })
  const all = ['a', 'b', 'c', 'd'].map((group) => wanted(group, 'a:2'))
  const before = ['a', 'b', 'c', 'd'].map((group) => child(group, 'done'))
  assert.deepEqual(shortPlan({ policy, wanted: all, children: before }), {
    acts: ['update web-a', 'update web-b'],
    phases: [
      'a Updating Updated',
      'b Updating Updated',
      'c Waiting OtherGroupsFirst',
      'd Waiting OtherGroupsFirst',
    ],
  })
  const after = [
    child('a', 'busy', 'a:2'),
    child('b', 'done', 'a:2'),
    child('c', 'done'),
    child('d', 'done'),
  ]
  assert.deepEqual(shortPlan({ policy, wanted: all, children: after }), {
    acts: ['update web-c'],
    phases: ['a Updating', 'b Ready', 'c Updating Updated', 'd Waiting OtherGroupsFirst'],
  })
})

test('a group whose nodes are all away is pending and does not block the others', () => {
  const policy = groupPolicyOf({ maxUpdating: 1 })
  const groups = [
    { name: 'a', nodeSelector: {}, nodes: 2, readyNodes: 0 },
    { name: 'b', nodeSelector: {}, nodes: 1, readyNodes: 1 },
  ]
  const plan = shortPlan({
    policy,
    groups: new Map(groups.map((group) => [group.name, group])),
    wanted: [wanted('a', 'a:2'), wanted('b', 'a:2')],
    children: [child('a', 'busy'), child('b', 'done')],
  })
  assert.deepEqual(plan, {
    acts: ['update web-b'],
    phases: ['a Pending NodesAway', 'b Updating Updated'],
  })
})

test('the child of a vanished group is marked, kept for the grace time, deleted after it, and kept if the group is back', () => {
  const policy = groupPolicyOf({ vanishedGraceSeconds: 60 })
  const marked = (secondsAgo: number): Child =>
    child('a', 'done', 'a:1', {
      [annotations.vanished]: new Date(nowMs - secondsAgo * 1_000).toISOString(),
    })
  const phases = ['a Vanished NoNodes']
  assert.deepEqual(shortPlan({ policy, children: [child('a', 'done')] }), {
    acts: ['mark web-a'],
    phases,
    nextMs: 60_000,
  })
  assert.deepEqual(shortPlan({ policy, children: [marked(20)] }), {
    acts: [],
    phases,
    nextMs: 40_000,
  })
  assert.deepEqual(shortPlan({ policy, children: [marked(60)] }), {
    acts: ['remove web-a'],
    phases: [],
  })
  assert.deepEqual(shortPlan({ policy, wanted: [wanted('a')], children: [marked(20)] }), {
    acts: ['mark web-a'],
    phases: ['a Ready'],
  })
})

test('a time of vanishing that nobody can read starts the grace time again', () => {
  const broken = child('a', 'done', 'a:1', { [annotations.vanished]: 'yesterday' })
  const policy = groupPolicyOf({ vanishedGraceSeconds: 60 })
  assert.deepEqual(shortPlan({ policy, children: [broken] }), {
    acts: ['mark web-a'],
    phases: ['a Vanished NoNodes'],
    nextMs: 60_000,
  })
})

test('a child by another key of nodes is deleted without a grace time', () => {
  const plan = shortPlan({ children: [child('a', 'done')], groupOf: () => undefined })
  assert.deepEqual(plan, { acts: ['remove web-a'], phases: [] })
})

test('a child that two applications want stays with its owner', () => {
  const other: Child = {
    ...child('a', 'done'),
    metadata: {
      name: 'web-a',
      ownerReferences: [
        {
          apiVersion: 'superedge.io/v1',
          kind: 'DeploymentGrid',
          name: 'w',
          uid: 'u-2',
          controller: true,
        },
      ],
    },
  }
  const taken = { wanted: [wanted('a')], named: () => other, asksToBelong: () => true }
  const { acts, states } = planChildren(view(taken))
  assert.deepEqual(acts, [])
  assert.equal(states[0]?.message, 'Deployment web-a exists and belongs to DeploymentGrid w')
})

test('an object without an owner is taken over only if it asks to belong to the application', () => {
  const other: Child = { ...child('a', 'done'), metadata: { name: 'web-a' } }
  const stranger = { wanted: [wanted('a')], named: () => other }
  assert.deepEqual(shortPlan(stranger), { acts: [], phases: ['a Refused NameTaken'] })
  assert.deepEqual(shortPlan({ ...stranger, asksToBelong: () => true }), {
    acts: ['update web-a'],
    phases: ['a Updating Created'],
  })
})

test('content that the server wrote otherwise is not applied again', () => {
  const normalised = { ...child('a', 'done'), spec: { replicas: 1, image: 'A:1' } }
  const same = { wanted: [wanted('a')], children: [normalised] }
  assert.deepEqual(shortPlan(same).acts, ['update web-a'])
  assert.deepEqual(shortPlan({ ...same, isAsApplied: () => true }).acts, [])
})

test('a child that is being deleted is waited for', () => {
  const ending = child('a', 'done')
  ending.metadata.deletionTimestamp = '2026-01-01T11:59:00Z'
  assert.deepEqual(shortPlan({ wanted: [wanted('a')], children: [ending] }), {
    acts: [],
    phases: ['a Waiting BeingDeleted'],
  })
})
