import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import { podInfoOf } from './framework/pod-info.ts'
import { asking, node, place, pod, type World } from './testing/scheduling-world.ts'

const zones = [
  node('a', { labels: { zone: 'east' } }),
  node('b', { labels: { zone: 'east' } }),
  node('c', { labels: { zone: 'west' } }),
]
const web = { app: 'web' }
const near = (key: string): Pod['spec'] => ({
  containers: [],
  affinity: {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: key, labelSelector: { matchLabels: web } },
      ],
    },
  },
})
const apart = (key: string): Pod['spec'] => ({
  containers: [],
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: key, labelSelector: { matchLabels: web } },
      ],
    },
  },
})

const placements: { name: string; pod: Pod; world: World; goesTo: string }[] = [
  {
    name: 'the node with more room wins',
    pod: pod(asking({ cpu: '1' })),
    world: {
      nodes: [node('full'), node('empty')],
      running: [pod({ ...asking({ cpu: '3' }), nodeName: 'full' })],
    },
    goesTo: 'empty',
  },
  {
    name: 'a node selector',
    pod: pod({ nodeSelector: { zone: 'west' } }),
    world: { nodes: zones },
    goesTo: 'c',
  },
  {
    name: 'preferred node affinity',
    pod: pod({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 10,
              preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['west'] }] },
            },
          ],
        },
      },
    }),
    world: { nodes: zones },
    goesTo: 'c',
  },
  {
    name: 'a tolerated taint is not an obstacle',
    pod: pod({ tolerations: [{ key: 'dedicated', operator: 'Exists' }] }),
    world: {
      nodes: [
        node('a', { spec: { taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }] } }),
      ],
    },
    goesTo: 'a',
  },
  {
    name: 'required pod affinity goes to the zone of the other',
    pod: pod(near('zone') ?? {}),
    world: { nodes: zones, running: [pod({ nodeName: 'c' }, web)] },
    goesTo: 'c',
  },
  {
    name: 'the first of a group that wants its own kind near may start',
    pod: pod(near('kubernetes.io/hostname') ?? {}, web),
    world: { nodes: [node('a')] },
    goesTo: 'a',
  },
  {
    name: 'anti-affinity keeps away from the whole zone',
    pod: pod(apart('zone') ?? {}),
    world: { nodes: zones, running: [pod({ nodeName: 'a' }, web)] },
    goesTo: 'c',
  },
  {
    name: 'topology spread fills the emptier zone',
    pod: pod(
      {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: web },
          },
        ],
      },
      web,
    ),
    world: { nodes: zones, running: [pod({ nodeName: 'a' }, web)] },
    goesTo: 'c',
  },
  {
    name: 'a host port that is taken sends the pod elsewhere',
    pod: pod({
      containers: [{ name: 'a', image: 'a', ports: [{ containerPort: 80, hostPort: 80 }] }],
    }),
    world: {
      nodes: [node('a'), node('b')],
      running: [
        pod({
          nodeName: 'a',
          containers: [{ name: 'a', image: 'a', ports: [{ containerPort: 80, hostPort: 80 }] }],
        }),
      ],
    },
    goesTo: 'b',
  },
  {
    name: 'a finished pod gives its room back',
    pod: pod(asking({ cpu: '3' })),
    world: {
      nodes: [node('a')],
      running: [
        { ...pod({ ...asking({ cpu: '3' }), nodeName: 'a' }), status: { phase: 'Succeeded' } },
      ],
    },
    goesTo: 'a',
  },
]

for (const row of placements) {
  test(row.name, () => {
    assert.equal(place(row.pod, row.world), row.goesTo)
  })
}

const refusals: { name: string; pod: Pod; world: World; message: string }[] = [
  {
    name: 'no nodes at all',
    pod: pod({}),
    world: { nodes: [] },
    message: 'no nodes available to schedule pods',
  },
  {
    name: 'reasons are counted and sorted',
    pod: pod(asking({ cpu: '8' })),
    world: {
      nodes: [
        node('a'),
        node('b'),
        node('c', {
          spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
        }),
      ],
    },
    message:
      '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. ' +
      'preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
  },
  {
    name: 'room that is only taken could be freed',
    pod: pod(asking({ cpu: '3' })),
    world: { nodes: [node('a')], running: [pod({ ...asking({ cpu: '3' }), nodeName: 'a' })] },
    message:
      '0/1 nodes are available: 1 Insufficient cpu. ' +
      'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  },
  {
    name: 'a cordoned node',
    pod: pod({}),
    world: { nodes: [node('a', { spec: { unschedulable: true } })] },
    message:
      '0/1 nodes are available: 1 node(s) were unschedulable. ' +
      'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  },
  {
    name: 'a claim that does not exist',
    pod: pod({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'lost' } }] }),
    world: { nodes: [node('a')] },
    message:
      '0/1 nodes are available: persistentvolumeclaim "lost" not found. ' +
      'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  },
  {
    name: 'an unbound claim of a class that binds at once',
    pod: pod({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'new' } }] }),
    world: {
      nodes: [node('a')],
      claims: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'new', namespace: 'shop' },
          spec: { storageClassName: 'x' },
        },
      ],
    },
    message:
      '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. ' +
      'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  },
]

for (const row of refusals) {
  test(row.name, () => {
    assert.equal(place(row.pod, row.world), row.message)
  })
}

test('init containers count by their peak, sidecars in addition to the rest', () => {
  const info = podInfoOf(
    pod({
      containers: [{ name: 'app', image: 'a', resources: { requests: { cpu: '100m' } } }],
      initContainers: [
        {
          name: 'proxy',
          image: 'a',
          restartPolicy: 'Always',
          resources: { requests: { cpu: '50m' } },
        },
        { name: 'migrate', image: 'a', resources: { requests: { cpu: '1' } } },
      ],
    }),
  )
  assert.equal(info.requests.get('cpu'), 1050)
})
