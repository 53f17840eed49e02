import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { faultsOfShare } from './share-faults.ts'
import { planTake } from './take-plan.ts'
import { copyOf, shareOf, withMark, type StoredObject } from './unit-share.ts'

interface Made {
  readonly owner?: StoredObject
  readonly spec?: object
  readonly type?: string
  readonly uid?: string
  readonly labels?: Record<string, string>
}

/** `core/pods guestbook/redis-0`, as the store has it. */
function made(path: string, { owner, spec, type, uid, labels }: Made = {}): StoredObject {
  const [resource = '', named = ''] = path.split(' ')
  const [name = '', namespace] = named.split('/').toReversed()
  const kind = kinds[resource] ?? 'ConfigMap'
  const { metadata } = owner?.object ?? {}
  const ownerReferences = [
    {
      apiVersion: 'v1',
      kind: owner?.object.kind ?? '',
      name: metadata?.name ?? '',
      uid: metadata?.uid ?? '',
    },
  ]
  const object: AnyObject = {
    apiVersion: 'v1',
    kind,
    metadata: {
      name,
      uid: uid ?? path,
      ...(labels ? { labels } : {}),
      ...(namespace === undefined ? {} : { namespace }),
      ...(owner ? { ownerReferences } : {}),
    },
    ...(spec ? { spec } : {}),
    ...(type === undefined ? {} : { type }),
  }
  return { key: `/registry/${resource}/${named}`, resource, object }
}

const kinds: Readonly<Record<string, string>> = {
  'core/nodes': 'Node',
  'apps/statefulsets': 'StatefulSet',
}

const node = made('core/nodes n1', { spec: { podCIDR: '10.42.1.0/24' }, labels: { hall: 'a' } })
const grid = made('superedge.io/statefulsetgrids shop/redis')
const templates = [{ metadata: { name: 'data' } }]
const set = made('apps/statefulsets shop/redis', {
  owner: grid,
  spec: { volumeClaimTemplates: templates },
})
const claims = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-redis-0' } }]
const onNode = { nodeName: 'n1', volumes: claims }
const pod = made('core/pods shop/redis-0', { owner: set, spec: onNode })
const claim = made('core/persistentvolumeclaims shop/data-redis-0', { uid: 'claim' })
const volume = made('core/persistentvolumes v1', {
  spec: { claimRef: { uid: 'claim', namespace: 'shop' } },
})
const daemons = made('apps/daemonsets shop/logs')
const daemonPod = made('core/pods shop/logs-x', { owner: daemons, spec: { nodeName: 'n1' } })

/** Jobs of the next hour, of which none runs now. */
function hourly(path: string, nodeSelector: object): StoredObject {
  return made(path, { spec: { jobTemplate: { spec: { template: { spec: { nodeSelector } } } } } })
}

const moved: readonly StoredObject[] = [
  node,
  made('coordination.k8s.io/leases kube-node-lease/n1', { owner: node }),
  made('storage.k8s.io/csinodes n1'),
  pod,
  daemonPod,
  set,
  hourly('batch/cronjobs shop/hourly', { hall: 'a' }),
  made('apps/controllerrevisions shop/redis-1', { owner: set }),
  claim,
  made('core/persistentvolumeclaims shop/data-redis-1'),
  volume,
  made('autoscaling/horizontalpodautoscalers shop/redis', {
    spec: { scaleTargetRef: { kind: 'StatefulSet', name: 'redis' } },
  }),
]

const lent: readonly StoredObject[] = [
  made('core/namespaces shop'),
  daemons,
  made('core/secrets shop/password'),
  made('core/services shop/redis'),
  made('networking.k8s.io/ipaddresses 10.43.0.7', { spec: { parentRef: { namespace: 'shop' } } }),
  made('storage.k8s.io/storageclasses local-path'),
]

const left: readonly StoredObject[] = [
  grid,
  hourly('batch/cronjobs shop/anywhere', {}),
  made('core/nodes n2'),
  made('core/pods shop/web-x', { spec: { nodeName: 'n2' } }),
  made('core/persistentvolumeclaims shop/data-other-0'),
  made('core/persistentvolumeclaims office/data-redis-0'),
  made('core/configmaps shop/kube-root-ca.crt'),
  made('core/secrets shop/bootstrap-token-a', { type: 'bootstrap.kubernetes.io/token' }),
  made('core/secrets office/password'),
  made('core/namespaces office'),
]

const keysOf = (objects: readonly StoredObject[]): string[] =>
  objects.map(({ key }) => key).toSorted()

test('with its nodes go the pods of a unit, everything that makes them, their claims and disks', () => {
  const share = shareOf([...left, ...lent, ...moved].toReversed(), new Set(['n1']))
  assert.deepEqual(keysOf(share.moved), keysOf(moved))
})

test('a unit borrows the shared objects of its namespaces, and no token by which machines join its parent', () => {
  const share = shareOf([...moved, ...lent, ...left], new Set(['n1']))
  assert.deepEqual(keysOf(share.lent), keysOf(lent))
})

test('a copy has no owner that stays behind, and no mark of the parent', () => {
  const uids = new Set(moved.map(({ object }) => object.metadata.uid ?? ''))
  assert.equal(copyOf(set, uids).metadata.ownerReferences, undefined)
  assert.deepEqual(copyOf(pod, uids), pod.object)
  const marked = { ...node, object: withMark(node.object, 'hall') }
  assert.notDeepEqual(marked.object, node.object)
  assert.deepEqual(copyOf(marked, uids), node.object)
})

const hold = { keys: keysOf(moved), namespaces: ['shop'], nodes: ['n1'] }

test('a unit that comes back brings changes, new objects and deletions, and has its owners again', () => {
  const here = [...moved, ...lent, ...left]
  const uids = new Set(moved.map(({ object }) => object.metadata.uid ?? ''))
  const copies = moved.map((each) => ({ ...each, object: copyOf(each, uids) }))
  const kept = copies.filter(({ key }) => key !== daemonPod.key)
  const fresh = made('core/pods shop/redis-1', {
    owner: set,
    uid: 'fresh',
    spec: { nodeName: 'n1' },
  })
  const own = [
    made('core/namespaces shop', { uid: 'x' }),
    made('core/configmaps kube-system/own', { uid: 'y' }),
  ]
  const { puts, deletes, refused } = planTake([...kept, ...lent, ...own, fresh], here, hold)
  assert.deepEqual(puts.find(({ key }) => key === set.key)?.object, set.object)
  assert.deepEqual(
    keysOf(kept),
    puts
      .filter(({ isNew }) => !isNew)
      .map(({ key }) => key)
      .toSorted(),
  )
  assert.deepEqual(
    puts.filter(({ isNew }) => isNew).map(({ key }) => key),
    [fresh.key],
  )
  assert.deepEqual(deletes, [daemonPod.key])
  assert.deepEqual(refused, [])
})

const selected = (nodeSelector: object): object => ({ template: { spec: { nodeSelector } } })

const newTable: readonly [title: string, each: StoredObject, why: RegExp | 'take' | 'skip'][] = [
  ['a name that both sides have used', made('core/configmaps shop/menu', { uid: 'b' }), /at both/],
  ['a service', made('core/services shop/till'), /services\/shop\/till was made there/],
  ['rights', made('rbac.authorization.k8s.io/rolebindings shop/all'), /does not come/],
  ['a namespace', made('core/namespaces extra'), /namespaces\/extra was made there/],
  ['a node', made('core/nodes n7'), /nodes\/n7 has joined it/],
  [
    'a pod on a node of the parent',
    made('core/pods shop/thief', { spec: { nodeName: 'n2' } }),
    /on node n2/,
  ],
  [
    'a DaemonSet for all nodes',
    made('apps/daemonsets shop/spy', { spec: selected({}) }),
    /may run outside/,
  ],
  [
    'a pod that waits for any node',
    made('core/pods shop/any', { spec: { containers: [] } }),
    /may run outside/,
  ],
  [
    'a workload of the unit alone',
    made('apps/deployments shop/till', { spec: selected({ hall: 'a' }) }),
    'take',
  ],
  [
    'a DaemonSet’s pod of any namespace',
    made('core/pods kube-system/log', { spec: { nodeName: 'n1' } }),
    'take',
  ],
  ['a lease', made('coordination.k8s.io/leases shop/leader'), 'skip'],
]

for (const [title, each, why] of newTable) {
  test(`${title} that a unit has made ${why instanceof RegExp ? 'is refused' : `meets ${why}`}`, () => {
    const here = [...moved, ...left, made('core/configmaps shop/menu', { uid: 'ours' })]
    const { puts, refused } = planTake([...moved, each], here, hold)
    if (why instanceof RegExp) {
      assert.match(refused.join(), why)
      assert.deepEqual(puts, [])
      return
    }
    assert.deepEqual(refused, [])
    const keys = puts.filter(({ isNew }) => isNew).map(({ key }) => key)
    assert.deepEqual(keys, why === 'take' ? [each.key] : [])
  })
}

const definition = made('apiextensions.k8s.io/customresourcedefinitions databases.example.com', {
  spec: { group: 'example.com', names: { plural: 'databases' } },
})
const remote = made('core/persistentvolumes v1', {
  spec: { claimRef: { uid: 'claim', namespace: 'shop' }, nfs: {} },
})
const local = made('core/persistentvolumes v1', {
  spec: {
    claimRef: { uid: 'claim', namespace: 'shop' },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'hall', operator: 'In', values: ['a'] }] }],
      },
    },
  },
})
const custom = (path: string): StoredObject => made(`example.com/databases ${path}`)
const elsewhere = made('core/pods shop/web-x', { spec: { nodeName: 'n2' } })

const faultTable: readonly [title: string, objects: readonly StoredObject[], faults: RegExp[]][] = [
  ['volumes on its own disks go', [local], []],
  [
    'a volume that others reach stays, with its unit',
    [remote],
    [/persistentvolumes\/v1 is not on/],
  ],
  [
    'a custom resource of a namespace that the unit has alone would stay behind',
    [local, definition, custom('shop/main')],
    [/databases\/shop\/main is a custom resource/],
  ],
  [
    'one of a namespace that others use is theirs',
    [local, definition, custom('shop/main'), elsewhere],
    [],
  ],
  [
    'one that the unit’s workload owns would go without its definition',
    [local, definition, { ...made('example.com/databases shop/x', { owner: set }) }, elsewhere],
    [/databases\/shop\/x/],
  ],
  ['a grid stays, and its children go', [local, grid], []],
]

for (const [title, objects, faults] of faultTable) {
  test(`before anything is fenced: ${title}`, () => {
    const others = moved.filter(({ key }) => key !== volume.key)
    const found = faultsOfShare([...others, made('core/nodes n2'), ...objects], new Set(['n1']))
    assert.equal(found.length, faults.length, JSON.stringify(found))
    for (const [at, fault] of faults.entries()) assert.match(found[at]?.message ?? '', fault)
  })
}
