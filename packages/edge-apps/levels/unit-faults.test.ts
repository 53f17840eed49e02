import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, PodSpec } from '@skerry/api'
import type { NodeUnit } from '../superedge/unit.ts'
import { faultsOfNodes, faultsOfPods, type Maker, type UnitPods } from './unit-faults.ts'

const directory = { 'skerry.io/local-path-directory': '/var/lib/skerry/node/volumes' }

function nodeOf(name: string, fields: Partial<Node['metadata']> = {}, ready = 'True'): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations: directory, ...fields },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }
}

function unitOf(autonomyLevel: string): NodeUnit {
  const apiVersion = 'site.superedge.io/v1alpha2'
  return { apiVersion, kind: 'NodeUnit', metadata: { name: 'hall' }, spec: { autonomyLevel } }
}

const three = ['n1', 'n2', 'n3'].map((name) => nodeOf(name))
const other = { name: 'shop', members: [nodeOf('n2')] }

const nodeTable: readonly [
  title: string,
  level: string,
  members: readonly Node[],
  others: readonly { name: string; members: readonly Node[] }[],
  faults: readonly string[],
][] = [
  ['one ready node is enough for L4', 'L4', [nodeOf('n1'), nodeOf('n2', {}, 'Unknown')], [], []],
  ['L5 needs three ready nodes', 'L5', three, [], []],
  ['two are too few for L5', 'L5', three.slice(1), [], ['InsufficientReadyNode']],
  ['a level that does not exist is named', 'L6', three, [], ['UnknownLevel']],
  [
    'a control plane of the parent is not given away',
    'L4',
    [nodeOf('n1', { labels: { 'node-role.kubernetes.io/control-plane': '' } })],
    [],
    ['UnfitNode'],
  ],
  [
    'a node of another distribution cannot change sides',
    'L4',
    [nodeOf('n1', { annotations: {} })],
    [],
    ['UnfitNode'],
  ],
  ['a node is in one cluster only', 'L4', three, [other], ['NodeInOtherUnit']],
]

for (const [title, level, members, others, faults] of nodeTable) {
  test(`of a unit’s nodes: ${title}`, () => {
    const found = faultsOfNodes(unitOf(level), members, others)
    assert.deepEqual(
      found.map(({ reason }) => reason),
      faults,
    )
  })
}

const inHall = nodeOf('n1', { labels: { hall: 'a', disk: 'ssd' } })
const elsewhere = nodeOf('n9', { labels: { hall: 'b', disk: 'ssd' } })

function podOf(spec: Partial<PodSpec> = {}, fields: Partial<Pod> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'db-0', namespace: 'shop', uid: 'u1' },
    spec: { containers: [], nodeName: 'n1', ...spec },
    ...fields,
  }
}

function maker(kind: string, template?: Partial<PodSpec>): Maker {
  const object = { metadata: { name: 'db', namespace: 'shop' } }
  return { kind, object, template: template && { containers: [], ...template } }
}

const claimed: Partial<PodSpec> = {
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
}

function volumeOn(...names: readonly string[]): PersistentVolume {
  const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [...names] }
  const field = { key: 'metadata.name', operator: 'In', values: [...names] }
  const required = {
    nodeSelectorTerms: [{ matchFields: [field] }, { matchExpressions: [expression] }],
  }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv' },
    spec: names.length === 0 ? {} : { nodeAffinity: { required } },
  }
}

const podTable: readonly [
  title: string,
  pod: Pod,
  maker: Maker,
  volume: PersistentVolume | undefined,
  faults: readonly string[],
][] = [
  ['a bare pod goes along', podOf(), maker('Pod'), undefined, []],
  [
    'each side makes a DaemonSet’s pods of its own nodes',
    podOf(),
    maker('DaemonSet', {}),
    undefined,
    [],
  ],
  [
    'a workload of the unit alone goes along',
    podOf(),
    maker('StatefulSet', { nodeSelector: { hall: 'a' } }),
    undefined,
    [],
  ],
  [
    'a workload that may run elsewhere would be two',
    podOf(),
    maker('StatefulSet', { nodeSelector: { disk: 'ssd' } }),
    undefined,
    ['SharedWorkload'],
  ],
  [
    'the controller of somebody’s own kind stays behind',
    podOf(),
    maker('Database'),
    undefined,
    ['ForeignWorkload'],
  ],
  ['a volume on a disk of the unit goes along', podOf(claimed), maker('Pod'), volumeOn('n1'), []],
  [
    'a volume that others reach stays with them',
    podOf(claimed),
    maker('Pod'),
    volumeOn(),
    ['RemoteVolume'],
  ],
  [
    'a volume that is on disks of others, too, is not the unit’s',
    podOf(claimed),
    maker('Pod'),
    volumeOn('n1', 'n9'),
    ['RemoteVolume'],
  ],
  [
    'devices have no way to the other side',
    podOf({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] }),
    maker('Pod'),
    undefined,
    ['DeviceInUse'],
  ],
  [
    'a pod that has ended is no matter',
    podOf({}, { status: { phase: 'Succeeded' } }),
    maker('Job', {}),
    undefined,
    [],
  ],
]

for (const [title, pod, made, volume, faults] of podTable) {
  test(`of a unit’s pods: ${title}`, () => {
    const claim: PersistentVolumeClaim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'shop' },
      spec: { volumeName: 'pv' },
    }
    const unit: UnitPods = {
      pods: [pod],
      makerOf: () => made,
      claimOf: () => claim,
      volumeOf: () => volume,
    }
    const found = faultsOfPods(unit, [inHall], [inHall, elsewhere])
    assert.deepEqual(
      found.map(({ reason }) => reason),
      faults,
    )
  })
}

test('a fault of many pods is said once', () => {
  const pods = ['a', 'b', 'c'].map((uid) => podOf({}, { metadata: { name: uid, uid } }))
  const made = maker('StatefulSet', {})
  const unit: UnitPods = {
    pods,
    makerOf: () => made,
    claimOf: () => undefined,
    volumeOf: () => undefined,
  }
  const [fault, ...more] = faultsOfPods(unit, [inHall], [inHall, elsewhere])
  assert.equal(
    fault?.message,
    'StatefulSet shop/db may run outside of the unit, e.g. on node n9; make it by a grid, or choose a label that only nodes of the unit have',
  )
  assert.deepEqual(more, [])
})
