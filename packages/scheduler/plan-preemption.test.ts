import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodDisruptionBudget } from '@skerry/api'
import { asking, node, place, pod, preempt, type World } from './testing/scheduling-world.ts'

interface Draft {
  cpu?: string
  priority?: number
  on?: string
  name?: string
  started?: string
  labels?: Record<string, string>
}

function running(draft: Draft): Pod {
  const { cpu = '2', priority = 0, on = 'a', started, labels = {}, name } = draft
  const made = pod({ ...asking({ cpu }), priority, nodeName: on }, labels)
  const metadata = name === undefined ? made.metadata : { ...made.metadata, name, uid: name }
  return { ...made, metadata, ...(started === undefined ? {} : { status: { startTime: started } }) }
}

const important = (cpu: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod =>
  pod({ ...asking({ cpu }), priority: 100, ...spec })

function budget(app: string, disruptionsAllowed: number): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'shop' },
    spec: { selector: { matchLabels: { app } } },
    status: {
      disruptionsAllowed,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    },
  }
}

const rows: { name: string; pod: Pod; world: World; victims: string }[] = [
  {
    name: 'no more pods go than must, and the most important stay',
    pod: important('2'),
    world: {
      nodes: [node('a')],
      running: [
        running({ name: 'low', cpu: '2', priority: 1 }),
        running({ name: 'middle', cpu: '2', priority: 5 }),
      ],
    },
    victims: 'a: low',
  },
  {
    name: 'of equal pods the one that started last goes',
    pod: important('2'),
    world: {
      nodes: [node('a')],
      running: [
        running({ name: 'old', started: '2026-01-01T00:00:00Z' }),
        running({ name: 'young', started: '2026-01-02T00:00:00Z' }),
      ],
    },
    victims: 'a: young',
  },
  {
    name: 'the node whose highest victim is the lowest',
    pod: important('4'),
    world: {
      nodes: [node('a'), node('b')],
      running: [
        running({ name: 'a1', cpu: '4', priority: 50, on: 'a' }),
        running({ name: 'b1', priority: 10, on: 'b' }),
        running({ name: 'b2', priority: 20, on: 'b' }),
      ],
    },
    victims: 'b: b2 b1',
  },
  {
    name: 'a node without a violated budget comes before one with lower victims',
    pod: important('4'),
    world: {
      nodes: [node('a'), node('b')],
      running: [
        running({ name: 'a1', cpu: '4', priority: 1, on: 'a', labels: { app: 'db' } }),
        running({ name: 'b1', cpu: '4', priority: 50, on: 'b' }),
      ],
      budgets: [budget('db', 0)],
    },
    victims: 'b: b1',
  },
  {
    name: 'where one must go, the one without a budget goes first',
    pod: important('2'),
    world: {
      nodes: [node('a')],
      running: [
        running({ name: 'guarded', priority: 1, labels: { app: 'db' } }),
        running({ name: 'free', priority: 5 }),
      ],
      budgets: [budget('db', 0)],
    },
    victims: 'a: free',
  },
  {
    name: 'an anti-affinity that a pod of lower priority stands in the way of',
    pod: important('1', {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: { matchLabels: { app: 'web' } },
            },
          ],
        },
      },
    }),
    world: {
      nodes: [node('a')],
      running: [running({ name: 'web', cpu: '1', labels: { app: 'web' } })],
    },
    victims: 'a: web',
  },
]

for (const row of rows) {
  test(row.name, () => {
    const plan = preempt(row.pod, row.world)
    assert.ok(plan?.isPossible)
    const names = plan.victims.map(({ pod: { metadata } }) => metadata.name)
    assert.equal(`${plan.nodeName}: ${names.join(' ')}`, row.victims)
  })
}

const terminating: Pod = {
  ...running({ name: 'going', cpu: '4' }),
  metadata: {
    name: 'going',
    namespace: 'shop',
    uid: 'going',
    deletionTimestamp: '2026-01-01T00:00:00Z',
  },
  status: {
    conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }],
  },
}

const refusals: { name: string; pod: Pod; world: World; tells: string }[] = [
  {
    name: 'a pod that never preempts',
    pod: important('4', { preemptionPolicy: 'Never' }),
    world: { nodes: [node('a')], running: [running({})] },
    tells: 'preemption: not eligible due to preemptionPolicy=Never.',
  },
  {
    name: 'equal pods do not give way',
    pod: important('4'),
    world: { nodes: [node('a')], running: [running({ priority: 100 })] },
    tells: 'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  },
  {
    name: 'room that is being made is waited for',
    pod: { ...important('4'), status: { nominatedNodeName: 'a' } },
    world: { nodes: [node('a')], running: [terminating] },
    tells: 'preemption: not eligible due to a terminating pod on the nominated node.',
  },
  {
    name: 'victims that would not be enough',
    pod: important('4'),
    world: {
      nodes: [node('a')],
      running: [running({ cpu: '1' }), running({ cpu: '1', priority: 200 })],
    },
    tells: 'preemption: 0/1 nodes are available: 1 Insufficient cpu.',
  },
]

for (const row of refusals) {
  test(row.name, () => {
    const plan = preempt(row.pod, row.world)
    assert.equal(plan?.isPossible === false ? plan.message : plan, row.tells)
  })
}

test('room made for one pod is not taken by a lesser one', () => {
  const waiting = important('4')
  const world = { nodes: [node('a')], nominated: [{ pod: waiting, nodeName: 'a' }] }
  assert.match(place(pod(asking({ cpu: '1' })), world), /^0\/1 nodes are available: 1 Insufficient/)
  assert.equal(place(pod({ ...asking({ cpu: '1' }), priority: 200 }), world), 'a')
})
