/** Pods that are sent to a virtual cluster reach neither its nodes' hosts nor other clusters' disks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localPath, type AnyObject, type JsonObject } from '@skerry/api'
import { confinedVolumes } from './host-access.ts'
import { createMapping, type MappingOptions } from './mapping.ts'
import { createNamespaceRule } from './namespace-rule.ts'

const podTemplateAnnotation = 'edge.skerry.io/pod-template-paths'

const east = { clusterName: 'east', namespaces: createNamespaceRule({ clusterName: 'east' }) }

function mapped(
  manifest: Omit<AnyObject, 'metadata'> & { metadata?: object },
  options: MappingOptions = {},
) {
  const sent = { metadata: { namespace: 'shop', name: 'web' }, ...manifest }
  return createMapping(east, options).toMember(sent as AnyObject)
}

function refusedUnlessAllowed(manifest: Parameters<typeof mapped>[0], field: RegExp): void {
  const shown = JSON.stringify(manifest)
  assert.throws(() => mapped(manifest), { name: 'MappingRefusal', message: field }, shown)
  assert.throws(() => mapped(manifest), /have the edge set spec\.isolation\.allowsHostAccess$/)
  assert.doesNotThrow(() => mapped(manifest, { allowsHostAccess: true }), shown)
}

const containers = [{ name: 'web', image: 'web' }]
const privileged = [{ ...containers[0], securityContext: { privileged: true } }]

const pods: readonly (readonly [spec: JsonObject, field: RegExp])[] = [
  [{ containers, volumes: [{ name: 'a', hostPath: { path: '/' } }] }, /by hostPath: /],
  [{ containers, volumes: [{ name: 'a', iscsi: { targetPortal: 'a' } }] }, /by iscsi: /],
  [{ containers, volumes: [{ name: 'a', cephfs: { secretFile: '/etc/key' } }] }, /by cephfs: /],
  [{ containers, volumes: [{ name: 'a', awsElasticBlockStore: { volumeID: 'b' } }] }, /by aws/],
  [{ containers, volumes: [{ name: 'a', comesLater: {} }] }, /by comesLater: /],
  [{ containers, hostNetwork: true, hostPID: true }, /by hostNetwork, hostPID: /],
  [{ containers, hostIPC: true }, /by hostIPC: /],
  [{ containers: privileged }, /by privileged: /],
  [{ containers, initContainers: privileged }, /by privileged: /],
  [{ containers, ephemeralContainers: privileged }, /by privileged: /],
]

test('a pod that reaches its node is refused, whichever kind makes it', () => {
  for (const [spec, field] of pods) {
    refusedUnlessAllowed({ apiVersion: 'v1', kind: 'Pod', spec }, field)
    const template = { spec }
    refusedUnlessAllowed({ apiVersion: 'apps/v1', kind: 'DaemonSet', spec: { template } }, field)
    refusedUnlessAllowed(
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        spec: { jobTemplate: { spec: { template } } },
      },
      field,
    )
    const annotations = { [podTemplateAnnotation]: 'spec.jobs.*.template' }
    const metadata = { namespace: 'shop', name: 'web', annotations }
    const job = { apiVersion: 'example.com/v1', kind: 'Flow', metadata }
    refusedUnlessAllowed({ ...job, spec: { jobs: [{ template }] } }, field)
    refusedUnlessAllowed({ ...job, spec: { jobs: { first: { template } } } }, field)
  }
})

test('a pod may have every other volume, and fields that are false or null', () => {
  for (const field of confinedVolumes) {
    const volumes = [{ name: 'a', [field]: {}, hostPath: null }]
    const spec = { containers, volumes, hostNetwork: false, hostPID: null }
    assert.doesNotThrow(() => mapped({ apiVersion: 'v1', kind: 'Pod', spec }), field)
  }
})

function volume(source: JsonObject, metadata: object = {}) {
  const claimRef = { namespace: 'shop', name: 'data' }
  const fields = { claimRef, capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'web', ...metadata },
    spec: { ...fields, ...source },
  }
}

test('a PersistentVolume has only the volume sources that its edge lists', () => {
  const sources = ['nfs', 'hostPath', 'local', 'csi', 'iscsi', 'rbd', 'azureDisk', 'comesLater']
  for (const source of sources) {
    const sent = volume({ [source]: { path: '/' } })
    const others = sources.filter((each) => each !== source)
    for (const volumeSources of [[], others]) {
      const message = new RegExp(
        `by ${source}: .* list the source in spec\\.isolation\\.volumeSources$`,
      )
      assert.throws(() => mapped(sent, { volumeSources }), { name: 'MappingRefusal', message })
    }
    assert.doesNotThrow(() => mapped(sent, { volumeSources: [source] }), source)
    assert.doesNotThrow(() => mapped(sent, { allowsHostAccess: true }), source)
  }
  const nfs = { nfs: { server: 'a', path: '/' }, hostPath: null }
  assert.doesNotThrow(() => mapped(volume(nfs), { volumeSources: ['nfs'] }))
})

test('attributes of a volume or a class name no namespace of the edge to a driver', () => {
  for (const key of ['secretNamespace', 'secretnamespace', 'namespaceID', 'x/key-namespace']) {
    const attributes = { [key]: 'kube-system' }
    const csi = { driver: 'x', volumeHandle: 'x', volumeAttributes: attributes }
    assert.throws(
      () => mapped(volume({ csi }), { allowsHostAccess: true }),
      /would name a namespace/,
    )
    for (const kind of ['StorageClass', 'VolumeAttributesClass']) {
      const metadata = { name: 'fast' }
      const sent = { apiVersion: 'storage.k8s.io/v1', kind, metadata, parameters: attributes }
      assert.throws(() => mapped(sent), /names namespace "kube-system"/, `${kind} ${key}`)
    }
  }
})

test('a volume that is sent gives no order to a node or a driver of the edge', () => {
  const labels = {
    [localPath.nodeLabel]: 'node-west',
    'topology.kubernetes.io/zone': 'west',
    'karmada.io/managed': 'true',
  }
  const annotations = {
    'pv.kubernetes.io/provisioned-by': localPath.provisioner,
    'volume.kubernetes.io/provisioner-deletion-secret-namespace': 'kube-system',
    'work.karmada.io/name': 'a',
  }
  const sent = volume({ local: { path: '/a' } }, { labels, annotations })
  for (const options of [{ volumeSources: ['local'] }, { allowsHostAccess: true }]) {
    const { metadata } = mapped(sent, options)
    assert.deepEqual(metadata.labels, {
      'karmada.io/managed': 'true',
      'edge.skerry.io/virtual-cluster': 'east',
    })
    assert.deepEqual(metadata.annotations, { 'work.karmada.io/name': 'a' })
  }
})

test('a claim that is sent chooses no node to make its volume', () => {
  const order = { 'volume.kubernetes.io/selected-node': 'node-west' }
  const claim = (annotations: object) =>
    mapped({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'shop', name: 'data', annotations },
      spec: { accessModes: ['ReadWriteOnce'] },
    }).metadata.annotations
  assert.deepEqual(claim({ ...order, team: 'till' }), { team: 'till' })
  assert.deepEqual(claim(order), {})
  assert.deepEqual(claim({ team: 'till' }), { team: 'till' })
})

test('a namespace confines pods that others make in it, at least as far as its virtual cluster is', () => {
  const key = 'pod-security.kubernetes.io/enforce'
  const level = (wanted: string | undefined, options: MappingOptions = {}) => {
    const labels: Record<string, string> = wanted === undefined ? {} : { [key]: wanted }
    const metadata = { name: 'shop', labels }
    return mapped({ apiVersion: 'v1', kind: 'Namespace', metadata }, options).metadata.labels?.[key]
  }
  assert.equal(level(undefined), 'baseline')
  assert.equal(level('baseline'), 'baseline')
  assert.equal(level('restricted'), 'restricted')
  assert.equal(level('anything'), 'baseline')
  assert.throws(() => level('privileged'), /by label .*enforce=privileged: leave that out/)
  const open = { allowsHostAccess: true }
  assert.deepEqual([level(undefined, open), level('privileged', open)], [undefined, 'privileged'])
})
