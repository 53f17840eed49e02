import { podReferenceFields, type PodReferenceResource } from '@skerry/api'
import { stringify } from 'yaml'

/**
 * Returns the scripts that ask what a node may do with each reference that a pod can make, from file name
 * to text. After a change of podReferences, write and record the scripts again.
 */
export function nodeScripts(): Map<string, string> {
  return new Map([
    ['node-mirror-pods', mirrorScript('node-mirror-pods')],
    ['node-reads', readScript('node-reads')],
    ['node-ephemeral-reads', ephemeralScript('node-ephemeral-reads')],
  ])
}

interface Reference {
  readonly title: string
  readonly resource: PodReferenceResource
  /** The part of a pod's spec that refers to an object of this name; undefined where a create has none. */
  readonly specWith: (name: string) => object
}

const heading = (text: string): string => `# ${text} Written by dev/hack/differential.ts nodes.`

/** Returns the header with which a request acts as this node. */
const asNode = (node: string): string => `As: system:node:${node}, system:nodes`

const isEphemeral = (path: string): boolean => path.startsWith('spec.ephemeralContainers')

/** A pod cannot be created with ephemeral containers: they are added to an existing one. */
const ephemeralReferences: readonly Reference[] = podReferenceFields
  .filter(({ path }) => isEphemeral(path))
  .map(referenceOf)

const references: readonly Reference[] = [
  ...podReferenceFields
    .filter(({ path }) => path !== 'spec.nodeName' && path.startsWith('spec.'))
    .filter(({ path }) => !isEphemeral(path))
    .map(referenceOf),
  {
    title: 'spec.volumes[].ephemeral',
    resource: 'persistentvolumeclaims',
    specWith: (name) => volumeOf('ephemeral', { volumeClaimTemplate: claimTemplate }, name),
  },
  {
    title: 'spec.volumes[].projected.sources[].serviceAccountToken',
    resource: 'serviceaccounts',
    specWith: (name) =>
      volumeOf('projected', { sources: [{ serviceAccountToken: { path: 'token' } }] }, name),
  },
]

function referenceOf({ path, resource }: (typeof podReferenceFields)[number]): Reference {
  return { title: path, resource, specWith: (name) => specOf(path, name) }
}

const claimTemplate = {
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

/** Fields that validation requires in addition to the reference. */
const companions: Readonly<Record<string, object>> = {
  azureFile: { shareName: 'share' },
  cephfs: { monitors: ['192.0.2.1:1'] },
  cinder: { volumeID: 'id' },
  csi: { driver: 'driver.example.com' },
  flexVolume: { driver: 'example.com/driver' },
  glusterfs: { path: 'path' },
  iscsi: { targetPortal: '192.0.2.1:1', iqn: 'iqn.2001-04.com.example:storage', lun: 0 },
  rbd: { monitors: ['192.0.2.1:1'], image: 'image' },
  scaleIO: { gateway: 'https://192.0.2.1', system: 'system', volumeName: 'volume' },
}

function specOf(path: string, name: string): object {
  const inner = (from: string): readonly string[] => path.slice(from.length).split('.')
  const volume = /^spec\.volumes\[\]\.(\w+)\./.exec(path)?.[1]
  if (volume === 'projected') {
    const [source = ''] = inner('spec.volumes[].projected.sources[].')
    return volumeOf('projected', { sources: [{ [source]: projectionOf(source, name) }] }, name)
  }
  if (volume !== undefined) {
    const field = nested(inner(`spec.volumes[].${volume}.`), name)
    return volumeOf(volume, { ...companions[volume], ...field }, name)
  }
  const container = /^spec\.(\w+ontainers)\[\]\.(env|envFrom)\[\]\.(.*)\.name$/.exec(path)
  if (container) {
    const [, list = '', way = '', target = ''] = container
    const fields = { name, ...(way === 'env' ? { key: 'k' } : {}) }
    const entry = { ...(way === 'env' ? { name: 'E' } : {}), ...nested(target.split('.'), fields) }
    return { [list]: [{ name: short(name), image: 'image', [way]: [entry] }] }
  }
  if (path === 'spec.imagePullSecrets[].name') return { imagePullSecrets: [{ name }] }
  if (path.startsWith('spec.resourceClaims[].')) {
    return {
      resourceClaims: [{ name: short(name), ...nested(inner('spec.resourceClaims[].'), name) }],
    }
  }
  return nested(inner('spec.'), name)
}

function projectionOf(source: string, name: string): object {
  if (source === 'podCertificate') {
    return { signerName: 'example.com/a', keyType: 'ED25519', credentialBundlePath: 'bundle' }
  }
  return { name, ...(source === 'clusterTrustBundle' ? { path: 'bundle' } : {}) }
}

function volumeOf(source: string, fields: object, name: string): object {
  return { volumes: [{ name: short(name), [source]: fields }] }
}

/** Names of volumes and containers have 63 characters. */
const short = (name: string): string => name.slice(0, 63)

function nested([first = '', ...rest]: readonly string[], value: unknown): object {
  return { [first]: rest.length === 0 ? value : nested(rest, value) }
}

interface Step {
  readonly name: string
  readonly request: string
  readonly headers?: readonly string[]
  readonly body?: object
  readonly captures?: readonly string[]
}

function scriptOf(title: string, steps: readonly Step[]): string {
  const sections = steps.map(({ name, request, headers = [], body, captures = [] }) => {
    const text =
      body === undefined
        ? ''
        : stringify(body, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false })
    const parts = [
      [`### ${name}`, request, ...headers].join('\n'),
      text.trim(),
      captures.join('\n'),
    ]
    return parts.filter((part) => part !== '').join('\n\n')
  })
  return `${[heading(title), ...sections].join('\n\n')}\n`
}

const makeNode = (name: string): Step => ({
  name: `node ${name}`,
  request: 'POST /api/v1/nodes',
  body: { metadata: { name } },
  captures: ['> uid = metadata.uid'],
})

const makeAccount = (name: string): Step => ({
  name: `account ${name}`,
  request: 'POST /api/v1/namespaces/${ns}/serviceaccounts',
  body: { metadata: { name }, automountServiceAccountToken: false },
})

const mirror = { 'kubernetes.io/config.mirror': 'x' }
const container = { containers: [{ name: 'c', image: 'image' }] }

/** Sorts of volume that lead to no object. */
const plainVolumes: Readonly<Record<string, object>> = {
  emptyDir: {},
  hostPath: { path: '/tmp' },
  nfs: { server: '192.0.2.1', path: '/' },
  downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] },
  image: { reference: 'image' },
  fc: { targetWWNs: ['a'], lun: 1 },
  projected: {
    sources: [
      { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ],
  },
}

function mirrorScript(node: string): string {
  const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid: '${uid}', controller: true }
  const attempt = (title: string, spec: object, metadata: object = {}): Step => ({
    name: title,
    request: 'POST /api/v1/namespaces/${ns}/pods?dryRun=All',
    headers: [asNode(node), 'Until: kind'],
    body: {
      metadata: { name: 'mirror', annotations: mirror, ownerReferences: [owner], ...metadata },
      spec: { nodeName: node, ...container, ...spec },
    },
  })
  const owners: readonly (readonly [string, readonly object[] | undefined])[] = [
    ['no owner', undefined],
    ['two owners', [owner, { ...owner, controller: false }]],
    ['an owner of another kind', [{ ...owner, kind: 'Pod' }]],
    ['an owner of another version', [{ ...owner, apiVersion: 'v2' }]],
    ['another node as owner', [{ ...owner, name: 'other' }]],
    ['an owner with another uid', [{ ...owner, uid: 'other' }]],
    ['an owner that does not control', [{ ...owner, controller: false }]],
    ['an owner whose deletion it blocks', [{ ...owner, blockOwnerDeletion: true }]],
  ]
  return scriptOf('What a mirror pod that a node creates may refer to.', [
    makeNode(node),
    // Servers see the node some time after its create.
    { ...attempt('a plain one', {}), headers: [asNode(node), 'Until: kind = Pod'] },
    ...references.map(({ title, specWith }) => attempt(title, specWith('name'))),
    ...Object.entries(plainVolumes).map(([source, fields]) =>
      attempt(`plain: ${source}`, volumeOf(source, fields, 'name')),
    ),
    ...owners.map(([title, ownerReferences]) => attempt(title, {}, { ownerReferences })),
    attempt('no mirror', {}, { annotations: {} }),
    attempt('unbound', { nodeName: '' }),
    attempt('for another node', { nodeName: 'other' }),
  ])
}

const paths: Readonly<Partial<Record<PodReferenceResource, string>>> = {
  clustertrustbundles: '/apis/certificates.k8s.io/v1beta1/clustertrustbundles',
  configmaps: '/api/v1/namespaces/${ns}/configmaps',
  csidrivers: '/apis/storage.k8s.io/v1/csidrivers',
  endpoints: '/api/v1/namespaces/${ns}/endpoints',
  persistentvolumeclaims: '/api/v1/namespaces/${ns}/persistentvolumeclaims',
  priorityclasses: '/apis/scheduling.k8s.io/v1/priorityclasses',
  resourceclaims: '/apis/resource.k8s.io/v1/namespaces/${ns}/resourceclaims',
  resourceclaimtemplates: '/apis/resource.k8s.io/v1/namespaces/${ns}/resourceclaimtemplates',
  runtimeclasses: '/apis/node.k8s.io/v1/runtimeclasses',
  secrets: '/api/v1/namespaces/${ns}/secrets',
  serviceaccounts: '/api/v1/namespaces/${ns}/serviceaccounts',
}

/** The places of pods. A mirror pod grants no access, even if its own node created it. */
const places = ['own', 'far', 'unbound', 'mirror'] as const
type Place = (typeof places)[number]

/** The node that a pod of this place is bound to. */
function nodeOf(script: string, place: Place): string | undefined {
  if (place === 'unbound') return undefined
  return place === 'far' ? `${script}-far` : `${script}-own`
}

/** Fields that a create refuses if the object does not exist, or whose gate is off. */
const needThere = ['priorityClassName', 'runtimeClassName', 'podGroupName', 'clusterTrustBundle']

function readScript(script: string): string {
  const node = `${script}-own`
  const asked = references
    .map((reference, index) => ({ ...reference, index }))
    .filter(({ title }) => !needThere.some((field) => title.includes(field)))
    .filter(({ title }) => !/serviceAccount|podCertificate/.test(title))
  const nameOf = (place: Place, index: number): string => `${place}-${index}`
  const pod = (place: Place): Step => {
    const isMirror = place === 'mirror'
    const isRefused = ({ title, resource }: Reference): boolean =>
      resource === 'secrets' || title.startsWith('spec.resourceClaims')
    const allowed = asked.filter((each) => !isMirror || !isRefused(each))
    const parts = allowed.map(({ specWith, index }) => specWith(nameOf(place, index)))
    const placed = nodeOf(script, place)
    return {
      name: `pod ${place}`,
      request: 'POST /api/v1/namespaces/${ns}/pods',
      body: {
        metadata: { name: place, ...(isMirror ? { annotations: mirror } : {}) },
        spec: {
          ...(placed === undefined ? {} : { nodeName: placed }),
          ...(isMirror ? {} : { serviceAccountName: place }),
          ...joined([container, ...parts]),
        },
      },
    }
  }
  const read = (place: Place) =>
    [
      ...asked.map(({ title, resource, index, specWith: _with }) => ({
        title,
        resource,
        name: title.endsWith('.ephemeral')
          ? `${place}-${nameOf(place, index)}`
          : nameOf(place, index),
      })),
      { title: 'account', resource: 'serviceaccounts' as const, name: place },
    ].map(({ title, resource, name }): Step => ({
      name: `${place} reads ${title}: ${resource}`,
      request: `GET ${paths[resource]}/${name}`,
      headers: [asNode(node), ...(place === 'own' ? ['Until: kind'] : [])],
    }))
  return scriptOf('Which objects a node may read because of the pods that refer to them.', [
    makeNode(node),
    ...places.map(makeAccount),
    ...places.map(pod),
    {
      name: 'the pod of its own is known',
      request: `GET ${paths.secrets}/${nameOf('own', asked.find(({ resource }) => resource === 'secrets')?.index ?? 0)}`,
      headers: [asNode(node), 'Until: reason = NotFound'],
    },
    ...places.flatMap(read),
    ...listsOf(node, asked.find(({ resource }) => resource === 'secrets')?.index ?? 0),
  ])
}

function ephemeralScript(script: string): string {
  const node = `${script}-own`
  const pod = (place: Place): Step => ({
    name: `pod ${place}`,
    request: 'POST /api/v1/namespaces/${ns}/pods',
    body: {
      metadata: { name: place, ...(place === 'mirror' ? { annotations: mirror } : {}) },
      spec: {
        ...(nodeOf(script, place) === undefined ? {} : { nodeName: nodeOf(script, place) }),
        ...(place === 'mirror' ? {} : { serviceAccountName: place }),
        ...container,
      },
    },
  })
  const nameOf = (place: Place, index: number): string => `${place}-${index}`
  const added = (place: Place): Step => ({
    name: `ephemeral containers of ${place}`,
    request: `PATCH /api/v1/namespaces/\${ns}/pods/${place}/ephemeralcontainers`,
    headers: ['Content-Type: application/strategic-merge-patch+json'],
    body: {
      spec: joined(
        ephemeralReferences.map(({ specWith }, index) => specWith(nameOf(place, index))),
      ),
    },
  })
  const read = (place: Place): Step[] =>
    ephemeralReferences.map(({ title, resource }, index) => ({
      name: `${place} reads ${title}: ${resource}`,
      request: `GET ${paths[resource]}/${nameOf(place, index)}`,
      headers: [asNode(node), ...(place === 'own' ? ['Until: reason = NotFound'] : [])],
    }))
  const early = ephemeralReferences.map(({ title, resource }, index) => ({
    name: `own reads ${title} before it is added: ${resource}`,
    request: `GET ${paths[resource]}/${nameOf('own', index)}`,
    headers: [asNode(node)],
  }))
  return scriptOf('Which objects a node may read because ephemeral containers refer to them.', [
    makeNode(node),
    ...places.map(makeAccount),
    ...places.map(pod),
    ...early,
    ...places.map(added),
    ...places.flatMap(read),
  ])
}

/** A node may list and watch an object that it may read, if a field selector names the object. */
function listsOf(node: string, index: number): Step[] {
  return places.flatMap((place) =>
    ['', `?fieldSelector=metadata.name%3D${place}-${index}`].map((query) => ({
      name: `lists secrets${query === '' ? '' : ' by name'} of ${place}`,
      request: `GET ${paths.secrets}${query}`,
      headers: [asNode(node)],
    })),
  )
}

/** Lists follow each other, other fields are taken over. */
function joined(parts: readonly object[]): object {
  const whole: Record<string, unknown> = {}
  for (const part of parts) {
    for (const [key, value] of Object.entries(part)) {
      const before = whole[key]
      whole[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
    }
  }
  return whole
}
