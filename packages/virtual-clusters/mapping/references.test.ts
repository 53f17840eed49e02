import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, JsonObject } from '@skerry/api'
import { createMapping } from './mapping.ts'
import { createNamespaceRule } from './namespace-rule.ts'

const east = { clusterName: 'east', namespaces: createNamespaceRule({ clusterName: 'east' }) }

function mapped(manifest: object): AnyObject {
  const metadata = { namespace: 'shop', name: 'web' }
  // Each entry's table gives the kind its apiVersion.
  return createMapping(east).toMember({ metadata, ...manifest } as AnyObject)
}

const containers = [{ name: 'web', image: 'web' }]
const ours = { 'edge.skerry.io/virtual-cluster': 'east' }
const selects = (...names: string[]) => ({
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: names }],
})
const selectsOwn = (...names: string[]) => ({
  matchLabels: ours,
  matchExpressions: [{ key: 'edge.skerry.io/namespace', operator: 'In', values: names }],
})

/** The kind, the manifest as sent, and the object in the edge cluster. */
const references: [kind: string, sent: JsonObject, there: JsonObject][] = [
  [
    'rbac.authorization.k8s.io/v1 RoleBinding',
    {
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'ServiceAccount', namespace: 'tools', name: 'robot' },
        { kind: 'User', name: 'system:serviceaccount:tools:robot' },
        { kind: 'User', name: 'olga' },
        { kind: 'Group', name: 'system:serviceaccounts:tools' },
        { kind: 'Group', name: 'system:authenticated' },
      ],
    },
    {
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'ServiceAccount', namespace: 'tools-east', name: 'robot' },
        { kind: 'User', name: 'system:serviceaccount:tools-east:robot' },
        { kind: 'User', name: 'olga' },
        { kind: 'Group', name: 'system:serviceaccounts:tools-east' },
        { kind: 'Group', name: 'system:authenticated' },
      ],
    },
  ],
  [
    'networking.k8s.io/v1 NetworkPolicy',
    {
      spec: {
        podSelector: {},
        ingress: [{ from: [{ namespaceSelector: {} }, { podSelector: {} }] }],
        egress: [
          { to: [{ namespaceSelector: { matchLabels: { team: 'till' } }, podSelector: {} }] },
          { to: [{ namespaceSelector: selects('tools') }, { ipBlock: { cidr: '10.0.0.0/8' } }] },
        ],
      },
    },
    {
      spec: {
        podSelector: {},
        ingress: [{ from: [{ namespaceSelector: { matchLabels: ours } }, { podSelector: {} }] }],
        egress: [
          {
            to: [
              { namespaceSelector: { matchLabels: { team: 'till', ...ours } }, podSelector: {} },
            ],
          },
          {
            to: [{ namespaceSelector: selectsOwn('tools') }, { ipBlock: { cidr: '10.0.0.0/8' } }],
          },
        ],
      },
    },
  ],
  [
    'networking.k8s.io/v1 NetworkPolicy',
    { spec: { egress: [{ to: [{ namespaceSelector: selects('kube-system', 'tools') }] }] } },
    {
      spec: {
        egress: [
          {
            to: [
              { namespaceSelector: selectsOwn('tools') },
              { namespaceSelector: selects('kube-system') },
            ],
          },
        ],
      },
    },
  ],
  [
    'v1 Service',
    { spec: { type: 'ExternalName', externalName: 'db.tools.svc.cluster.local' } },
    { spec: { type: 'ExternalName', externalName: 'db.tools-east.svc.cluster.local' } },
  ],
  [
    'v1 Service',
    { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
    { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
  ],
  [
    'v1 PersistentVolumeClaim',
    { spec: { volumeName: 'disk', dataSourceRef: { kind: 'VolumeSnapshot', namespace: 'tools' } } },
    {
      spec: {
        volumeName: 'disk-east',
        dataSourceRef: { kind: 'VolumeSnapshot', namespace: 'tools-east' },
      },
    },
  ],
  [
    'discovery.k8s.io/v1 EndpointSlice',
    { endpoints: [{ addresses: ['10.1.0.1'], targetRef: { kind: 'Pod', namespace: 'shop' } }] },
    {
      endpoints: [{ addresses: ['10.1.0.1'], targetRef: { kind: 'Pod', namespace: 'shop-east' } }],
    },
  ],
  [
    'gateway.networking.k8s.io/v1 HTTPRoute',
    {
      spec: {
        parentRefs: [{ name: 'gate', namespace: 'tools' }, { name: 'own' }],
        rules: [{ backendRefs: [{ name: 'web', namespace: 'shop' }] }],
      },
    },
    {
      spec: {
        parentRefs: [{ name: 'gate', namespace: 'tools-east' }, { name: 'own' }],
        rules: [{ backendRefs: [{ name: 'web', namespace: 'shop-east' }] }],
      },
    },
  ],
  [
    'gateway.networking.k8s.io/v1 Gateway',
    { spec: { listeners: [{ allowedRoutes: { namespaces: { from: 'All' } } }, { port: 80 }] } },
    {
      spec: {
        listeners: [
          { allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: ours } } } },
          { port: 80 },
        ],
      },
    },
  ],
  [
    'gateway.networking.k8s.io/v1beta1 ReferenceGrant',
    { spec: { from: [{ kind: 'HTTPRoute', namespace: 'tools' }], to: [{ kind: 'Service' }] } },
    { spec: { from: [{ kind: 'HTTPRoute', namespace: 'tools-east' }], to: [{ kind: 'Service' }] } },
  ],
]

test('wherever a namespace is written, it is that of the same virtual cluster', () => {
  for (const [what, sent, there] of references) {
    const [apiVersion = '', kind = ''] = what.split(' ')
    const { metadata: _named, ...content } = mapped({ apiVersion, kind, ...sent })
    assert.deepEqual(content, { apiVersion, kind, ...there }, what)
  }
})

test('peers that an API server refuses are left for it to refuse, and do not become everybody', () => {
  for (const values of [[], [1], ['tools', null], [{}]]) {
    const matchExpressions = [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }]
    const peers = [{ namespaceSelector: { matchExpressions } }]
    const spec = { podSelector: {}, ingress: [{ from: peers }], egress: [{ to: peers }] }
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec }
    const there = {
      matchLabels: ours,
      matchExpressions: [{ key: 'edge.skerry.io/namespace', operator: 'In', values }],
    }
    const own = [{ namespaceSelector: there }]
    const { spec: written } = mapped(policy)
    assert.deepEqual(written, { podSelector: {}, ingress: [{ from: own }], egress: [{ to: own }] })
  }
})

test('a status names namespaces as the manifest does', () => {
  const route: AnyObject = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { namespace: 'shop', name: 'web' },
    spec: { parentRefs: [{ name: 'gate', namespace: 'tools' }] },
  }
  const parents = (...namespaces: string[]) => ({
    parents: namespaces.map((namespace) => ({ parentRef: { name: 'gate', namespace } })),
  })
  const { fromMember } = createMapping(east)
  assert.deepEqual(
    fromMember(route, parents('tools-east', 'shop-east', 'other')),
    parents('tools', 'shop', 'other'),
  )
  const status = { phase: 'Running', note: 'shop-east' }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name: 'web' } }
  assert.deepEqual(fromMember(pod, status), status)
})

test('pods are near pods of their own virtual cluster, and find its services', () => {
  const term = (names: object) => ({ topologyKey: 'zone', ...names })
  const spec = {
    containers,
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [term({ namespaces: ['tools'] })],
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, podAffinityTerm: term({ namespaceSelector: {} }) },
        ],
      },
    },
    dnsConfig: { searches: ['tools.svc.cluster.local', 'example.com', 'kube-system.svc'] },
  }
  const { affinity, dnsConfig } = mapped({ apiVersion: 'v1', kind: 'Pod', spec })[
    'spec'
  ] as JsonObject
  assert.deepEqual(affinity, {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [term({ namespaces: ['tools-east'] })],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: term({ namespaceSelector: { matchLabels: ours } }) },
      ],
    },
  })
  assert.deepEqual(dnsConfig, {
    searches: ['tools-east.svc.cluster.local', 'example.com', 'kube-system.svc'],
  })
})

test('a role for all virtual clusters carries no label that a role of the edge could select', () => {
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  }
  const labelled = (labels: Record<string, string>) =>
    mapped({ ...role, metadata: { name: 'editor', labels } })
  const kept = { 'karmada.io/managed': 'true', 'work.karmada.io/permanent-id': 'a' }
  const there = labelled({ team: 'a', 'example.com/aggregate': 'true', ...kept })
  assert.deepEqual(there.metadata.labels, { 'karmada.io/managed': 'true' })
  assert.throws(
    () => labelled({ 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' }),
    /would change a role of the whole edge cluster/,
  )
  for (const clusterRoleSelectors of [[], [{ matchLabels: { team: 'a' } }]]) {
    const aggregationRule = { clusterRoleSelectors }
    assert.throws(
      () => mapped({ ...role, metadata: { name: 'editor' }, aggregationRule }),
      /its aggregationRule would collect rules/,
    )
  }
})

test('the secret of a class is in the namespace of each claim or snapshot, and no other', () => {
  const classes = [
    ['storage.k8s.io/v1 StorageClass', 'csi.storage.k8s.io/provisioner-secret-namespace'],
    ['storage.k8s.io/v1 StorageClass', 'secretNamespace'],
    ['storage.k8s.io/v1 StorageClass', 'adminSecretNameSpace'],
    [
      'snapshot.storage.k8s.io/v1 VolumeSnapshotClass',
      'csi.storage.k8s.io/snapshotter-secret-namespace',
    ],
  ] as const
  const values: readonly (readonly [value: string, isOwn: boolean])[] = [
    ['${pvc.namespace}', true],
    ['${volumesnapshot.namespace}', true],
    ['kube-system', false],
    ['${}kube-system', false],
    ['${pvc.namespace}-west', false],
    ['shop-${pvc.namespace}', false],
    ['${pvc.name}', false],
    ['${pv.name}', false],
    ["${pvc.annotations['a']}", false],
    ['$kube-system', false],
  ]
  for (const [of, key] of classes) {
    const [apiVersion, kind] = of.split(' ')
    for (const [value, isOwn] of values) {
      const map = () =>
        mapped({ apiVersion, kind, metadata: { name: 'fast' }, parameters: { [key]: value } })
      if (isOwn) assert.doesNotThrow(map, `${key}: ${value}`)
      else assert.throws(map, /names namespace/, `${key}: ${value}`)
    }
  }
})
