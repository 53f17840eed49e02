import type { JsonObject } from '@skerry/api'
import { fieldAt, textAt, textsAt } from '@skerry/fleet-kinds'

/** The treatment of a cluster-scoped object that is sent to a virtual cluster. */
export type ClusterScope =
  /** One object for all virtual clusters that send it; they must agree on it. */
  | 'shared'
  /** A separate object, under a name of the virtual cluster's own. */
  | 'own'
  /** The mapped namespace. */
  | 'namespace'

/** Kinds that are not listed are refused, because their effect in one virtual cluster could reach another. */
export const clusterScopes: Readonly<Record<string, ClusterScope>> = Object.freeze({
  '/Namespace': 'namespace',
  '/PersistentVolume': 'own',
  'apiextensions.k8s.io/CustomResourceDefinition': 'shared',
  'gateway.networking.k8s.io/GatewayClass': 'shared',
  'networking.k8s.io/IngressClass': 'shared',
  'node.k8s.io/RuntimeClass': 'shared',
  'rbac.authorization.k8s.io/ClusterRole': 'shared',
  'rbac.authorization.k8s.io/ClusterRoleBinding': 'own',
  'resource.k8s.io/DeviceClass': 'shared',
  'scheduling.k8s.io/PriorityClass': 'shared',
  'snapshot.storage.k8s.io/VolumeSnapshotClass': 'shared',
  'storage.k8s.io/StorageClass': 'shared',
  'storage.k8s.io/VolumeAttributesClass': 'shared',
})

const aggregationLabels = 'rbac.authorization.k8s.io/aggregate-to-'

/** Returns why an object of such a kind cannot belong to a virtual cluster; undefined if it can. */
export const clusterScopedRefusals: Readonly<
  Record<string, (object: JsonObject) => string | undefined>
> = Object.freeze({
  '/PersistentVolume': (volume) => {
    const claim = fieldAt(volume, 'spec', 'claimRef')
    if (textAt(claim, 'namespace') !== '' && textAt(claim, 'name') !== '') {
      return attributeRefusal(textsAt(volume, 'spec', 'csi', 'volumeAttributes'))
    }
    return 'any virtual cluster could claim it: name its claim in spec.claimRef'
  },
  'apiextensions.k8s.io/CustomResourceDefinition': (definition) =>
    fieldAt(definition, 'spec', 'conversion', 'webhook') === undefined
      ? undefined
      : 'its conversion webhook would serve every virtual cluster: install it in the edge cluster itself',
  'gateway.networking.k8s.io/GatewayClass': (found) =>
    namespaceRefusal(textAt(found, 'spec', 'parametersRef', 'namespace')),
  'networking.k8s.io/IngressClass': (found) =>
    defaultRefusal(found, 'ingressclass.kubernetes.io/is-default-class') ??
    namespaceRefusal(textAt(found, 'spec', 'parameters', 'namespace')),
  'rbac.authorization.k8s.io/ClusterRole': (role) => {
    const labels = Object.keys(textsAt(role, 'metadata', 'labels'))
    const key = labels.find((label) => label.startsWith(aggregationLabels))
    if (key) return `label ${key} would change a role of the whole edge cluster: take it out`
    const rule = fieldAt(role, 'aggregationRule')
    if (rule === undefined || rule === null) return undefined
    return 'its aggregationRule would collect rules of roles of the whole edge cluster: write them in its rules'
  },
  'scheduling.k8s.io/PriorityClass': (found) =>
    fieldAt(found, 'globalDefault') === true
      ? 'globalDefault would hold for pods of every virtual cluster: name the class in pods'
      : undefined,
  'snapshot.storage.k8s.io/VolumeSnapshotClass': (found) =>
    defaultRefusal(found, 'snapshot.storage.kubernetes.io/is-default-class') ??
    parameterRefusal(found),
  'storage.k8s.io/StorageClass': (found) =>
    defaultRefusal(found, 'storageclass.kubernetes.io/is-default-class') ??
    defaultRefusal(found, 'storageclass.beta.kubernetes.io/is-default-class') ??
    parameterRefusal(found),
  'storage.k8s.io/VolumeAttributesClass': parameterRefusal,
})

function defaultRefusal(found: JsonObject, annotation: string): string | undefined {
  if (textsAt(found, 'metadata', 'annotations')[annotation] !== 'true') return undefined
  return `annotation ${annotation} would hold for every virtual cluster: name the class instead`
}

function namespaceRefusal(namespace: string): string | undefined {
  if (namespace === '') return undefined
  return `it is shared by virtual clusters and names namespace "${namespace}", which each calls another: install it in the edge cluster itself`
}

/**
 * Standing alone, each means the namespace of each claim or snapshot. With text around it, it would mean
 * another namespace.
 */
const ownNamespaceTemplates: ReadonlySet<string> = new Set([
  '${pvc.namespace}',
  '${volumesnapshot.namespace}',
])

/** Checks the Secrets of drivers. */
function parameterRefusal(found: JsonObject): string | undefined {
  const named = Object.entries(textsAt(found, 'parameters')).find(
    ([key, value]) => namesNamespace(key) && !ownNamespaceTemplates.has(value),
  )
  return namespaceRefusal(named?.[1] ?? '')
}

/** Checks a volume's attributes, which each driver defines for itself. */
function attributeRefusal(attributes: Readonly<Record<string, string>>): string | undefined {
  const key = Object.keys(attributes).find(namesNamespace)
  if (key === undefined) return undefined
  return `attribute ${key} of its driver would name a namespace of the edge cluster: take it out`
}

const namesNamespace = (key: string): boolean => key.toLowerCase().includes('namespace')
