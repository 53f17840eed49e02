import type { Pod } from './generated/types.ts'
import { isJsonObject, memberOf, type JsonObject } from './json.ts'

/** Resources, in the plural, whose objects a pod may refer to. */
export type PodReferenceResource =
  | 'clustertrustbundles'
  | 'configmaps'
  | 'csidrivers'
  | 'endpoints'
  | 'nodes'
  | 'persistentvolumeclaims'
  | 'podcertificaterequests'
  | 'podgroups'
  | 'priorityclasses'
  | 'resourceclaims'
  | 'resourceclaimtemplates'
  | 'runtimeclasses'
  | 'secrets'
  | 'serviceaccounts'

/** The type of field that contains the reference; for a volume, the type of volume. */
export type PodReferenceVia =
  | 'pod'
  | 'imagePullSecrets'
  | 'env'
  | 'envFrom'
  | 'projected'
  | 'resourceClaims'
  | 'status'
  | VolumeVia

type VolumeVia =
  | 'azureFile'
  | 'cephfs'
  | 'cinder'
  | 'configMap'
  | 'csi'
  | 'ephemeral'
  | 'flexVolume'
  | 'glusterfs'
  | 'iscsi'
  | 'persistentVolumeClaim'
  | 'rbd'
  | 'scaleIO'
  | 'secret'
  | 'storageos'

/** An object that a pod refers to. */
export interface PodReference {
  readonly resource: PodReferenceResource
  /** The object's name. It is empty if the pod omits it, or a signer or a selector chooses the object. */
  readonly name: string
  /** The pod's namespace; empty for cluster-scoped resources. */
  readonly namespace: string
  /** The path of the reference, e.g. `spec.volumes[2].projected.sources[0].secret.name`. */
  readonly path: string
  readonly via: PodReferenceVia
}

/**
 * Lists every object that a pod refers to. This is the one list for the node authorizer, admission,
 * controllers and the kubelet. It does not contain objects that those refer to (the volume of a
 * claim, its secrets). A reference without a name is listed with an empty one.
 */
export function podReferences(pod: Pod): PodReference[] {
  const namespace = pod.metadata.namespace ?? ''
  const found: Found[] = []
  collect({ ...pod }, root, '', found)
  found.push(...ephemeralClaims(pod), ...tokenAccounts(pod), ...generatedClaims(pod))
  return found.map((reference) => ({
    ...reference,
    namespace: clusterScoped.has(reference.resource) ? '' : namespace,
  }))
}

/**
 * Returns the forbidden reference of a static pod or its mirror as a phrase for a message, because
 * a static pod must not refer to objects of the API: a node could read anything that a pod of its
 * own making names. Order and phrases are those of NodeRestriction and the kubelet of Kubernetes
 * 1.36.
 */
export function referenceOfStaticPod(pod: Pod): string | undefined {
  const found = podReferences(pod)
  if (pod.spec?.serviceAccountName || pod.spec?.serviceAccount) return 'serviceaccounts'
  for (const resource of ['secrets', 'configmaps'] as const) {
    if (found.some((each) => each.resource === resource && each.name !== '')) return resource
  }
  if ((pod.spec?.resourceClaims ?? []).length > 0) return 'resourceclaims'
  const ofVolume = found.find(({ path }) => path.startsWith('spec.volumes['))
  if (ofVolume === undefined) return undefined
  const { resource, via } = ofVolume
  if (resource === 'podcertificaterequests') return 'podcertificates'
  return `${resource}${volumePhrases[via] ?? ''}`
}

/** Types of volume that upstream names together with the resource they refer to. */
const volumePhrases: Readonly<Partial<Record<PodReferenceVia, string>>> = Object.freeze({
  azureFile: ' (via azureFile volumes)',
  configMap: ' (via configmap volumes)',
  csi: ' (via CSI volumes)',
  ephemeral: ' (via ephemeral volumes)',
  glusterfs: ' (via glusterFS volumes)',
  secret: ' (via secret volumes)',
})

type Found = Omit<PodReference, 'namespace'>

interface ReferenceField {
  readonly resource: PodReferenceResource
  readonly via: PodReferenceVia
  /** The path of the name; `[]` stands for each element of a list. */
  readonly path: string
  /** True for a field of a larger object, which refers to nothing if the field is omitted. */
  readonly isOptional: boolean
}

const projected = 'spec.volumes[].projected.sources[]'

/** A test compares these with every text in the schema of a pod. */
export const podReferenceFields: readonly ReferenceField[] = Object.freeze([
  optional('nodes', 'pod', 'spec.nodeName'),
  optional('serviceaccounts', 'pod', 'spec.serviceAccountName'),
  optional('serviceaccounts', 'pod', 'spec.serviceAccount'),
  optional('priorityclasses', 'pod', 'spec.priorityClassName'),
  optional('runtimeclasses', 'pod', 'spec.runtimeClassName'),
  optional('podgroups', 'pod', 'spec.schedulingGroup.podGroupName'),
  required('secrets', 'imagePullSecrets', 'spec.imagePullSecrets[].name'),
  ...['initContainers', 'containers', 'ephemeralContainers'].flatMap(fieldsOfContainers),
  optional('resourceclaims', 'resourceClaims', 'spec.resourceClaims[].resourceClaimName'),
  optional(
    'resourceclaimtemplates',
    'resourceClaims',
    'spec.resourceClaims[].resourceClaimTemplateName',
  ),
  optional('resourceclaims', 'status', 'status.extendedResourceClaimStatus.resourceClaimName'),
  volume('secrets', 'secret', 'secretName'),
  volume('secrets', 'azureFile', 'secretName'),
  volume('secrets', 'cephfs', 'secretRef.name'),
  volume('secrets', 'cinder', 'secretRef.name'),
  volume('secrets', 'csi', 'nodePublishSecretRef.name'),
  volume('secrets', 'flexVolume', 'secretRef.name'),
  volume('secrets', 'iscsi', 'secretRef.name'),
  volume('secrets', 'rbd', 'secretRef.name'),
  volume('secrets', 'scaleIO', 'secretRef.name'),
  volume('secrets', 'storageos', 'secretRef.name'),
  volume('configmaps', 'configMap', 'name'),
  volume('csidrivers', 'csi', 'driver'),
  volume('endpoints', 'glusterfs', 'endpoints'),
  volume('persistentvolumeclaims', 'persistentVolumeClaim', 'claimName'),
  required('secrets', 'projected', `${projected}.secret.name`),
  required('configmaps', 'projected', `${projected}.configMap.name`),
  required('clustertrustbundles', 'projected', `${projected}.clusterTrustBundle.name`),
  // The node creates a request whose name is not known beforehand.
  required('podcertificaterequests', 'projected', `${projected}.podCertificate.name`),
])

const clusterScoped: ReadonlySet<PodReferenceResource> = new Set([
  'clustertrustbundles',
  'csidrivers',
  'nodes',
  'priorityclasses',
  'runtimeclasses',
])

function optional(
  resource: PodReferenceResource,
  via: PodReferenceVia,
  path: string,
): ReferenceField {
  return { resource, via, path, isOptional: true }
}

function required(
  resource: PodReferenceResource,
  via: PodReferenceVia,
  path: string,
): ReferenceField {
  return { resource, via, path, isOptional: false }
}

function volume(resource: PodReferenceResource, via: VolumeVia, path: string): ReferenceField {
  return required(resource, via, `spec.volumes[].${via}.${path}`)
}

function fieldsOfContainers(list: string): ReferenceField[] {
  const env = `spec.${list}[].env[].valueFrom`
  const envFrom = `spec.${list}[].envFrom[]`
  return [
    required('secrets', 'env', `${env}.secretKeyRef.name`),
    required('secrets', 'envFrom', `${envFrom}.secretRef.name`),
    required('configmaps', 'env', `${env}.configMapKeyRef.name`),
    required('configmaps', 'envFrom', `${envFrom}.configMapRef.name`),
  ]
}

/**
 * Indexes the fields by place, so that only existing fields of a pod are examined: nodes ask for
 * many pods.
 */
interface Place {
  readonly fields: { readonly key: string; readonly field: ReferenceField }[]
  readonly members: Map<string, Place>
  readonly lists: Map<string, Place>
}

const root = placesOf(podReferenceFields)

function placesOf(fields: readonly ReferenceField[]): Place {
  const whole = newPlace()
  for (const field of fields) {
    const steps = field.path.split('.')
    const key = steps.pop() ?? ''
    let place = whole
    for (const step of steps) {
      const isList = step.endsWith('[]')
      const name = isList ? step.slice(0, -2) : step
      const below = isList ? place.lists : place.members
      const next = below.get(name) ?? newPlace()
      below.set(name, next)
      place = next
    }
    place.fields.push({ key, field })
  }
  return whole
}

function newPlace(): Place {
  return { fields: [], members: new Map(), lists: new Map() }
}

function collect(object: JsonObject, place: Place, path: string, found: Found[]): void {
  for (const { key, field } of place.fields) {
    const name = textOf(object, key)
    if (name === '' && field.isOptional) continue
    found.push({ resource: field.resource, name, via: field.via, path: within(path, key) })
  }
  for (const [key, next] of place.members) {
    const member = memberOf(object, key)
    if (isJsonObject(member)) collect(member, next, within(path, key), found)
  }
  for (const [key, next] of place.lists) {
    const list = memberOf(object, key)
    if (!Array.isArray(list)) continue
    for (const [index, item] of list.entries()) {
      if (isJsonObject(item)) collect(item, next, `${within(path, key)}[${index}]`, found)
    }
  }
}

function within(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

const volumeSteps = ['spec', 'volumes[]']
const tokenSteps = `${projected}.serviceAccountToken`.split('.')

interface ObjectAt {
  readonly object: JsonObject
  readonly path: string
}

function objectsAt(root: object, steps: readonly string[]): ObjectAt[] {
  let found: { value: unknown; path: string }[] = [{ value: root, path: '' }]
  for (const step of steps) {
    const isList = step.endsWith('[]')
    const key = isList ? step.slice(0, -2) : step
    found = found.flatMap(({ value, path }) => {
      const member = isJsonObject(value) ? memberOf(value, key) : undefined
      const place = path === '' ? key : `${path}.${key}`
      if (!isList) return member === undefined ? [] : [{ value: member, path: place }]
      const items: readonly unknown[] = Array.isArray(member) ? member : []
      return items.map((item, index) => ({ value: item, path: `${place}[${index}]` }))
    })
  }
  return found.flatMap(({ value, path }) => (isJsonObject(value) ? [{ object: value, path }] : []))
}

/** The claim of an ephemeral volume is named after pod and volume (KEP-1698). */
function ephemeralClaims(pod: Pod): Found[] {
  return objectsAt(pod, volumeSteps).flatMap(({ object, path }) => {
    if (!isJsonObject(memberOf(object, 'ephemeral'))) return []
    const name = `${pod.metadata.name}-${textOf(object, 'name')}`
    const resource = 'persistentvolumeclaims'
    return [{ resource, name, via: 'ephemeral', path: `${path}.ephemeral` }]
  })
}

function textOf(object: JsonObject, field: string): string {
  const value = memberOf(object, field)
  return typeof value === 'string' ? value : ''
}

/** A projected token belongs to the pod's own service account. */
function tokenAccounts(pod: Pod): Found[] {
  const name = pod.spec?.serviceAccountName ?? ''
  return objectsAt(pod, tokenSteps).map(({ path }) => ({
    resource: 'serviceaccounts',
    name,
    via: 'projected',
    path,
  }))
}

/** Lists claims that were created from templates for the pod; the status names them. */
function generatedClaims(pod: Pod): Found[] {
  if (pod.status?.resourceClaimStatuses === undefined) return []
  const entries = objectsAt(pod, ['spec', 'resourceClaims[]'])
  return objectsAt(pod, ['status', 'resourceClaimStatuses[]']).flatMap(({ object, path }) => {
    const entry = textOf(object, 'name')
    const name = textOf(object, 'resourceClaimName')
    const isFromTemplate = entries.some(
      (each) =>
        textOf(each.object, 'name') === entry && textOf(each.object, 'resourceClaimName') === '',
    )
    if (!isFromTemplate || name === '') return []
    return [{ resource: 'resourceclaims', name, via: 'status', path: `${path}.resourceClaimName` }]
  })
}
