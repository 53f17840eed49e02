import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Pod } from './generated/types.ts'
import { podReferenceFields, podReferences, referenceOfStaticPod } from './pod-references.ts'
import type { Schema, SchemaSet } from './schema.ts'

/**
 * Returns the path of every text in a type of the schema, with `[]` for the elements of a list;
 * recursive types once.
 */
function textsOf(types: SchemaSet, type: string): string[] {
  const walk = (schema: Schema, path: string, seen: readonly string[]): string[] => {
    if (schema.ref !== undefined) {
      const next = types[schema.ref]
      return next === undefined || seen.includes(schema.ref)
        ? []
        : walk(next, path, [...seen, schema.ref])
    }
    if (schema.items) return walk(schema.items, `${path}[]`, seen)
    if (schema.properties) {
      return Object.entries(schema.properties).flatMap(([key, member]) =>
        walk(member, `${path}.${key}`, seen),
      )
    }
    return schema.type === 'string' && schema.enum === undefined ? [path] : []
  }
  return walk({ ref: type }, '', []).map((path) => path.slice(1))
}

/** Names in a pod that do not refer to objects: its own parts, and things outside the API. */
const names = [
  /^spec\.(volumes|(initC|c|ephemeralC)ontainers|resourceClaims|schedulingGates)\[\]\.name$/,
  /^spec\.(initC|c|ephemeralC)ontainers\[\]\.(ports|env|volumeMounts|volumeDevices)\[\]\.name$/,
  /^spec\.(initC|c|ephemeralC)ontainers\[\]\.resizePolicy\[\]\.resourceName$/,
  /^spec\.ephemeralContainers\[\]\.targetContainerName$/,
  /\.(fileKeyRef\.volumeName|resourceFieldRef\.containerName|resources\.claims\[\]\.name)$/,
  /\.httpHeaders\[\]\.name$/,
  /\.windowsOptions\.(gmsaCredentialSpecName|runAsUserName)$/,
  /^spec\.(schedulerName|hostname|os\.name)$/,
  /^spec\.(securityContext\.sysctls|dnsConfig\.options)\[\]\.name$/,
  /\.(gcePersistentDisk\.pdName|azureDisk\.diskName|azureFile\.shareName|flocker\.datasetName)$/,
  /\.(scaleIO\.volumeName|storageos\.volumeName|iscsi\.initiatorName|vsphereVolume\.storagePolicyName)$/,
  /\.(clusterTrustBundle|podCertificate)\.signerName$/,
  // The claim refers to these, not the pod.
  /\.ephemeral\.volumeClaimTemplate\./,
  /^status\.(initC|c|ephemeralC)ontainerStatuses\[\]\./,
  /^status\.extendedResourceClaimStatus\.requestMappings\[\]\.\w+Name$/,
  /^status\.(nominatedNodeName|resourceClaimStatuses\[\]\.name)$/,
  // This is behind a gate that is off; the node itself writes it.
  /^status\.nodeAllocatableResourceClaimStatuses\[\]\.resourceClaimName$/,
]

/** Names of objects that are determined by more than the field itself. */
const derived = ['status.resourceClaimStatuses[].resourceClaimName']

test('each text of a pod that may name an object is in the list, or is known to name none', () => {
  const text = readFileSync(new URL('../kinds/generated/schema.json', import.meta.url), 'utf8')
  // The generator writes only schemas into it.
  const types = JSON.parse(text) as SchemaSet
  const pod = textsOf(types, 'io.k8s.api.core.v1.Pod')
  const fields = pod.filter((path) => /^(spec|status)\./.test(path))
  const listed = new Set([...podReferenceFields.map(({ path }) => path), ...derived])
  const mayName = (path: string): boolean =>
    /name$|ref$|account$|endpoints$|csi\.driver$|secret$|class$/i.test(path)
  const unknown = fields.filter(
    (path) => mayName(path) && !listed.has(path) && !names.some((known) => known.test(path)),
  )
  assert.deepEqual(unknown, [])
  const withoutField = 'spec.volumes[].projected.sources[].podCertificate.name'
  const gone = [...listed].filter((path) => path !== withoutField && !fields.includes(path))
  assert.deepEqual(gone, [], 'the list names fields that a pod has')
})

test('each sort of volume leads to an object, or is known to lead to none', () => {
  const text = readFileSync(new URL('../kinds/generated/schema.json', import.meta.url), 'utf8')
  // The generator wrote this file, too, from a value of this type.
  const types = JSON.parse(text) as SchemaSet
  const sortsOf = (type: string): string[] =>
    Object.keys(types[`io.k8s.api.core.v1.${type}`]?.properties ?? {})
  const leading = new Set(podReferenceFields.map(({ path }) => path.split('.').at(-2)))
  const parents = new Set(podReferenceFields.map(({ path }) => path.split('.')[2]))
  const unlisted = [...sortsOf('Volume'), ...sortsOf('VolumeProjection')].filter(
    (sort) => !leading.has(sort) && !parents.has(sort),
  )
  assert.deepEqual(unlisted.toSorted(), [
    'awsElasticBlockStore',
    'azureDisk',
    'downwardAPI',
    'downwardAPI',
    'emptyDir',
    'ephemeral', // named after pod and volume
    'fc',
    'flocker',
    'gcePersistentDisk',
    'gitRepo',
    'hostPath',
    'image',
    'nfs',
    'photonPersistentDisk',
    'portworxVolume',
    'quobyte',
    'serviceAccountToken', // of the pod's account
    'vsphereVolume',
  ])
})

const podOf = (spec: object, status: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop' },
  // Tests write only the parts of a spec that they test.
  spec: { containers: [], ...spec } as NonNullable<Pod['spec']>,
  status,
})

const shown = (pod: Pod): string[] =>
  podReferences(pod).map(
    ({ resource, namespace, name, path, via }) =>
      `${resource} ${namespace}/${name} at ${path} by ${via}`,
  )

test('a reference says what it names, where it stands and in which way', () => {
  const pod = podOf(
    {
      nodeName: 'n1',
      serviceAccountName: 'robot',
      initContainers: [{ name: 'i', envFrom: [{}, { configMapRef: { name: 'settings' } }] }],
      ephemeralContainers: [
        { name: 'e', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'key', key: 'k' } } }] },
      ],
      resourceClaims: [
        { name: 'a', resourceClaimTemplateName: 'template' },
        { name: 'b', resourceClaimName: 'mine' },
      ],
      volumes: [
        { name: 'data', ephemeral: {} },
        { name: 'all', projected: { sources: [{ serviceAccountToken: { path: 't' } }, {}] } },
        { name: 'd', csi: { driver: 'example.com', nodePublishSecretRef: {} } },
      ],
    },
    {
      resourceClaimStatuses: [
        { name: 'a', resourceClaimName: 'made' },
        { name: 'b', resourceClaimName: 'others' },
        { name: 'c', resourceClaimName: 'others' },
      ],
      extendedResourceClaimStatus: { resourceClaimName: 'extended' },
    },
  )
  assert.deepEqual(shown(pod), [
    'nodes /n1 at spec.nodeName by pod',
    'serviceaccounts shop/robot at spec.serviceAccountName by pod',
    'configmaps shop/settings at spec.initContainers[0].envFrom[1].configMapRef.name by envFrom',
    'secrets shop/key at spec.ephemeralContainers[0].env[0].valueFrom.secretKeyRef.name by env',
    'resourceclaimtemplates shop/template at spec.resourceClaims[0].resourceClaimTemplateName by resourceClaims',
    'resourceclaims shop/mine at spec.resourceClaims[1].resourceClaimName by resourceClaims',
    'csidrivers /example.com at spec.volumes[2].csi.driver by csi',
    'secrets shop/ at spec.volumes[2].csi.nodePublishSecretRef.name by csi',
    'resourceclaims shop/extended at status.extendedResourceClaimStatus.resourceClaimName by status',
    'persistentvolumeclaims shop/web-data at spec.volumes[0].ephemeral by ephemeral',
    'serviceaccounts shop/robot at spec.volumes[1].projected.sources[0].serviceAccountToken by projected',
    'resourceclaims shop/made at status.resourceClaimStatuses[0].resourceClaimName by status',
  ])
})

test('a pod of any shape has references or none', () => {
  const shapes: object[] = [
    {},
    { volumes: null },
    { volumes: [null, 1] },
    { containers: [{ env: {} }] },
  ]
  for (const spec of shapes) assert.deepEqual(shown(podOf(spec)), [])
})

test('a static pod may refer to classes and its node, and to nothing else', () => {
  const may = { nodeName: 'n1', priorityClassName: 'high', runtimeClassName: 'small' }
  assert.equal(referenceOfStaticPod(podOf(may)), undefined)
  const volume = (source: object) => podOf({ volumes: [{ name: 'v', ...source }] })
  assert.equal(referenceOfStaticPod(volume({ hostPath: { path: '/' } })), undefined)
  assert.equal(
    referenceOfStaticPod(volume({ configMap: {} })),
    'configmaps (via configmap volumes)',
  )
  assert.equal(referenceOfStaticPod(volume({ rbd: { secretRef: { name: 's' } } })), 'secrets')
})
