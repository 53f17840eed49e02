import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { MappingRefusal, sharersOf } from '@skerry/cluster-agent'
import { groupLabel } from '@skerry/fleet-kinds'
import { createMapping, type MappingOptions } from './mapping.ts'
import { createNamespaceRule } from './namespace-rule.ts'
import { podTemplatePaths } from './pod-spec.ts'

const east = {
  clusterName: 'east',
  namespaces: createNamespaceRule({ clusterName: 'east' }),
}

function mapped(manifest: object, options: MappingOptions = {}): AnyObject {
  return createMapping(east, options).toMember(objectOf(manifest))
}

/** Returns an object with a default name, for tests to which it does not matter. */
function objectOf(manifest: object): AnyObject {
  return { metadata: { namespace: 'shop', name: 'web' }, ...manifest } as AnyObject
}

function refused(manifest: object, why: RegExp): void {
  assert.throws(() => mapped(manifest), { name: 'MappingRefusal', message: why })
}

const containers = [{ name: 'web', image: 'web' }]
const onEast = { nodeSelector: { [groupLabel]: 'east' } }

test('each kind of workload lands in its mapped namespace, on nodes of its group', () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } }
  const placed = { ...template, spec: { containers, ...onEast } }
  const table: [apiVersion: string, kind: string, content: object, wanted: object][] = [
    ['v1', 'Pod', { spec: { containers } }, { spec: placed.spec }],
    ['v1', 'PodTemplate', { template }, { template: placed }],
    ...[
      ['v1', 'ReplicationController'],
      ['apps/v1', 'Deployment'],
      ['apps/v1', 'StatefulSet'],
      ['apps/v1', 'DaemonSet'],
      ['apps/v1', 'ReplicaSet'],
      ['batch/v1', 'Job'],
    ].map(([apiVersion = '', kind = '']): [string, string, object, object] => [
      apiVersion,
      kind,
      { spec: { template } },
      { spec: { template: placed } },
    ]),
    [
      'batch/v1',
      'CronJob',
      { spec: { jobTemplate: { spec: { template } } } },
      { spec: { jobTemplate: { spec: { template: placed } } } },
    ],
  ]
  for (const [apiVersion, kind, content, wanted] of table) {
    assert.deepEqual(
      mapped({ apiVersion, kind, ...content }),
      { apiVersion, kind, metadata: { namespace: 'shop-east', name: 'web' }, ...wanted },
      kind,
    )
  }
})

test('an application in many places has its pods on nodes of the group, with templates of every place', () => {
  const pods = { spec: { containers } }
  const here = { spec: { containers, ...onEast } }
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { ports: [] },
  }
  const inGrid = (template: object): object => ({
    spec: { template: { template }, templatePool: { canary: { template } } },
  })
  const inManifests = (template: object, namespace: string): object => {
    const metadata = { name: 'web', namespace }
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { template } }
    const jobTemplate = { spec: { template } }
    const job = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'web' },
      spec: { jobTemplate },
    }
    return { spec: { workloadTemplate: { manifests: [deployment, job, service] } } }
  }
  const inPools = (template: object): object => ({
    spec: { workload: { workloadTemplate: { deploymentTemplate: { spec: { template } } } } },
  })
  const table: [apiVersion: string, kind: string, content: object, wanted: object][] = [
    ['superedge.io/v1', 'DeploymentGrid', inGrid(pods), inGrid(here)],
    ['superedge.io/v1', 'StatefulSetGrid', inGrid(pods), inGrid(here)],
    [
      'apps.kubeedge.io/v1alpha1',
      'EdgeApplication',
      inManifests(pods, 'shop'),
      inManifests(here, 'shop-east'),
    ],
    ['apps.openyurt.io/v1beta1', 'YurtAppSet', inPools(pods), inPools(here)],
  ]
  for (const [apiVersion, kind, content, wanted] of table) {
    const { metadata: _metadata, ...found } = mapped({ apiVersion, kind, ...content })
    assert.deepEqual(found, { apiVersion, kind, ...wanted }, kind)
  }
  const reaching = inGrid({ spec: { containers, hostNetwork: true } })
  refused({ apiVersion: 'superedge.io/v1', kind: 'DeploymentGrid', ...reaching }, /hostNetwork/)
  const ofNode = { ...service, spec: { externalIPs: ['192.0.2.1'] } }
  const application = { spec: { workloadTemplate: { manifests: [ofNode] } } }
  refused(
    { apiVersion: 'apps.kubeedge.io/v1alpha1', kind: 'EdgeApplication', ...application },
    /192\.0\.2\.1|external/,
  )
})

test("a pod's selector, affinity and tolerations stay in addition to those of its group", () => {
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
  }
  const tolerations = [{ operator: 'Exists' }]
  const spec = { containers, nodeSelector: { disk: 'fast' }, affinity, tolerations }
  assert.deepEqual(mapped({ apiVersion: 'v1', kind: 'Pod', spec })['spec'], {
    ...spec,
    nodeSelector: { disk: 'fast', [groupLabel]: 'east' },
  })
})

test('a pod that is bound for another place is refused', () => {
  const deployment = (spec: object) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: { template: { spec: { containers, ...spec } } },
  })
  refused(
    deployment({ nodeSelector: { [groupLabel]: 'west' } }),
    /^Cannot have Deployment "shop\/web" in a virtual cluster: it selects nodes of virtual cluster "west" and is sent to "east"/,
  )
  refused(deployment({ nodeName: 'node-7' }), /names node "node-7"/)
  const mapping = createMapping(east)
  const { metadata } = mapping.placeOf(objectOf(deployment({ nodeName: 'node-7' })))
  assert.deepEqual(metadata, { namespace: 'shop-east', name: 'web' }, 'it is found all the same')
})

test('a pod that wants other nodes than those of its group is refused', () => {
  const nodeLabels = { 'example.com/branch': 'east' }
  const pod = (nodeSelector: object) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    spec: { containers, nodeSelector },
  })
  assert.throws(() => mapped(pod({ 'example.com/branch': 'west' }), { nodeLabels }), {
    name: 'MappingRefusal',
    message:
      /it selects nodes with example.com\/branch: "west", and those of virtual cluster "east" have example.com\/branch=east/,
  })
  const own = { 'example.com/branch': 'east', disk: 'fast' }
  assert.deepEqual(mapped(pod(own), { nodeLabels })['spec'], {
    containers,
    nodeSelector: { ...own, ...onEast.nodeSelector },
  })
})

test('a pod whose required node affinity no node of its group meets is refused', () => {
  const key = 'example.com/branch'
  const nodeLabels = { [key]: 'east' }
  const not = (value: string) => [{ key, operator: 'NotIn', values: [value] }]
  const table: [isTaken: boolean, ...terms: object[]][] = [
    [false, { matchExpressions: [{ key, operator: 'In', values: ['west', 'north'] }] }],
    [true, { matchExpressions: [{ key, operator: 'In', values: ['west', 'east'] }] }],
    [false, { matchExpressions: not('east') }],
    [true, { matchExpressions: not('west') }],
    [false, { matchExpressions: [{ key, operator: 'DoesNotExist' }] }],
    [true, { matchExpressions: [{ key, operator: 'Exists' }] }],
    [true, { matchExpressions: [{ key: 'disk', operator: 'In', values: ['fast'] }] }],
    [false, { matchExpressions: [{ key: groupLabel, operator: 'In', values: ['west'] }] }],
    [true, { matchExpressions: not('east') }, { matchExpressions: not('west') }],
    [
      false,
      { matchExpressions: not('east') },
      { matchExpressions: [...not('west'), ...not('east')] },
    ],
  ]
  for (const [isTaken, ...nodeSelectorTerms] of table) {
    const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms }
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } }
    const pod = { apiVersion: 'v1', kind: 'Pod', spec: { containers, affinity } }
    const map = () => mapped(pod, { nodeLabels })
    if (isTaken) assert.deepEqual(map()['spec'], { ...pod.spec, ...onEast })
    else assert.throws(map, { name: 'MappingRefusal', message: /it requires nodes with / })
  }
})

test('pods of custom kinds are found by declared paths', () => {
  const part = { template: { spec: { containers } } }
  const placed = { template: { spec: { containers, ...onEast } } }
  const kind = { apiVersion: 'apps.example.com/v1', kind: 'Fleet' }
  const spec = { leader: part, workers: [part, part], note: 'x' }
  const wanted = { leader: placed, workers: [placed, placed], note: 'x' }
  const paths = ['spec.leader.template', 'spec.workers.*.template', 'spec.absent.template']
  assert.deepEqual(
    mapped({ ...kind, spec }, { podTemplatePaths: { 'apps.example.com/Fleet': paths } })['spec'],
    wanted,
  )
  const annotations = { 'edge.skerry.io/pod-template-paths': paths.join(', ') }
  const metadata = { namespace: 'shop', name: 'web', annotations }
  assert.deepEqual(mapped({ ...kind, spec, metadata })['spec'], wanted)
})

const ours = { 'edge.skerry.io/virtual-cluster': 'east' }

test('a binding for the accounts of all virtual clusters is refused', () => {
  const subjects = [{ kind: 'Group', name: 'system:serviceaccounts' }]
  refused({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', subjects }, /accounts/)
})

const named = { metadata: { name: 'web' } }

test('an object without a namespace is shared, gets a name of its own, or is refused', () => {
  const namespace = mapped({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: 'my-app',
      labels: { team: 'till', 'edge.skerry.io/virtual-cluster': 'west' },
    },
  })
  assert.deepEqual(namespace.metadata, {
    name: 'my--app-east',
    labels: {
      team: 'till',
      ...ours,
      'edge.skerry.io/namespace': 'my-app',
      'pod-security.kubernetes.io/enforce': 'baseline',
    },
  })
  const claimRef = { namespace: 'shop', name: 'data' }
  const csi = { driver: 'disk', nodeStageSecretRef: { namespace: 'shop', name: 'key' } }
  const sent = { apiVersion: 'v1', kind: 'PersistentVolume', ...named, spec: { claimRef, csi } }
  const volume = mapped(sent, { allowsHostAccess: true })
  assert.equal(volume.metadata.name, 'web-east')
  assert.deepEqual(volume['spec'], {
    claimRef: { ...claimRef, namespace: 'shop-east' },
    csi: { ...csi, nodeStageSecretRef: { namespace: 'shop-east', name: 'key' } },
  })
  refused({ apiVersion: 'v1', kind: 'PersistentVolume', ...named, spec: {} }, /spec\.claimRef/)
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', ...named }
  assert.equal(mapped(role).metadata.name, 'web')
  refused(
    {
      ...role,
      metadata: { name: 'web', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    },
    /aggregate-to-view would change a role of the whole edge cluster/,
  )
  const binding = {
    ...role,
    kind: 'ClusterRoleBinding',
    subjects: [{ kind: 'ServiceAccount', namespace: 'shop', name: 'web' }],
  }
  refused(
    binding,
    /^Cannot have ClusterRoleBinding "web" .*: use a RoleBinding in each namespace, or have the edge set /,
  )
  const given = mapped(binding, { allowsClusterRights: true })
  const found = createMapping(east).placeOf(objectOf(binding))
  assert.equal(found.metadata.name, 'web-east', 'it is found also when it is allowed no more')
  assert.deepEqual(
    [given.metadata.name, given['subjects']],
    ['web-east', [{ kind: 'ServiceAccount', namespace: 'shop-east', name: 'web' }]],
  )
})

test('an object that would reach other virtual clusters is refused', () => {
  const table: [kind: string, content: object, why: RegExp][] = [
    ['v1 Node', {}, /no namespace/],
    ['admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration', {}, /no namespace/],
    ['apiregistration.k8s.io/v1 APIService', {}, /no namespace/],
    ['example.com/v1 ClusterThing', {}, /install it in the edge cluster itself/],
    ['edge.skerry.io/v1alpha1 VirtualCluster', {}, /virtual clusters are their edge cluster's/],
    ['scheduling.k8s.io/v1 PriorityClass', { globalDefault: true }, /globalDefault/],
    [
      'storage.k8s.io/v1 StorageClass',
      { parameters: { 'csi.storage.k8s.io/node-stage-secret-namespace': 'shop' } },
      /names namespace "shop"/,
    ],
    [
      'storage.k8s.io/v1 StorageClass',
      {
        metadata: {
          name: 'web',
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
        },
      },
      /is-default-class/,
    ],
    [
      'apiextensions.k8s.io/v1 CustomResourceDefinition',
      { spec: { conversion: { webhook: {} } } },
      /conversion webhook/,
    ],
  ]
  for (const [what, content, why] of table) {
    const [apiVersion = '', kind = ''] = what.split(' ')
    refused({ apiVersion, kind, ...named, ...content }, why)
  }
  const isolating = { metadata: { namespace: 'shop', name: 'virtual-cluster' } }
  refused({ apiVersion: 'v1', kind: 'ResourceQuota', ...isolating }, /isolates it/)
  refused({ apiVersion: 'v1', kind: 'Binding', target: { name: 'n' } }, /scheduler/)
  const settings = { apiVersion: 'v1', kind: 'ConfigMap' }
  refused({ ...settings, metadata: { namespace: 'kube-system', name: 'a' } }, /edge cluster's own/)
  refused({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-x' } }, /own/)
  const issuer = { apiVersion: 'example.com/v1', kind: 'ClusterThing', ...named }
  const options = { sharedKinds: ['example.com/ClusterThing'] }
  assert.equal(mapped(issuer, options).metadata.name, 'web')
})

const clusterRole = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
const { toMember, placeOf } = createMapping(east)
const ways = [toMember, placeOf]

test('whatever a manifest claims, it is mapped or refused', () => {
  const junk: unknown[] = [null, 5, '', 'x', [], [null], {}, { a: null }, [{ a: 1 }], true]
  const metadata = { namespace: 'shop', name: 'web' }
  const fields = ['namespace', 'labels', 'annotations', 'name']
  for (const value of junk) {
    const manifests: object[] = [
      ...fields.flatMap((field) => [
        { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, [field]: value } },
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web', [field]: value } },
        { ...clusterRole, metadata: { name: 'web', [field]: value } },
      ]),
      ...[...Object.keys(podTemplatePaths), 'networking.k8s.io/NetworkPolicy'].flatMap((key) => {
        const [group = '', kind = ''] = key.split('/')
        const apiVersion = group === '' ? 'v1' : `${group}/v1`
        return [
          { apiVersion, kind, metadata, spec: value, template: value },
          { apiVersion, kind, metadata, spec: { template: value, ingress: value } },
          { apiVersion, kind, metadata, spec: { template: { spec: value }, ingress: [value] } },
          { apiVersion, kind, metadata, spec: { template: { spec: { nodeSelector: value } } } },
          {
            apiVersion,
            kind,
            metadata,
            spec: { nodeSelector: value, ingress: [{ from: [{ namespaceSelector: value }] }] },
          },
        ]
      }),
    ]
    for (const manifest of manifests) {
      for (const map of ways) {
        try {
          map(objectOf(manifest))
        } catch (error) {
          assert.ok(
            error instanceof MappingRefusal,
            `${JSON.stringify(manifest)}: ${String(error)}`,
          )
        }
      }
    }
  }
  refused({ ...clusterRole, metadata }, /objects of its kind have no namespace/)
  refused(
    { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeSelector: ['x'] } },
    /not a map of labels/,
  )
})

test('a shared object is the same, whichever virtual cluster sends it', () => {
  const west = {
    clusterName: 'west',
    namespaces: createNamespaceRule({ clusterName: 'west' }),
  }
  const sent = (cluster: string, description: string) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: {
      name: 'till',
      labels: { 'work.karmada.io/permanent-id': cluster, team: 'till' },
      annotations: { 'work.karmada.io/namespace': `karmada-es-${cluster}` },
    },
    description,
  })
  const first = createMapping(east).toMember(sent('east', 'a'))
  const second = createMapping(west).toMember(sent('west', 'a'))
  const other = createMapping(west).toMember(sent('west', 'b'))
  assert.match(sharersOf(first).get('east') ?? '', /^[0-9a-f]{12}$/)
  assert.equal(sharersOf(second).get('west'), sharersOf(first).get('east'))
  assert.notEqual(sharersOf(other).get('west'), sharersOf(first).get('east'))
  assert.deepEqual(first.metadata.labels, { team: 'till', 'karmada.io/managed': 'true' })
})
