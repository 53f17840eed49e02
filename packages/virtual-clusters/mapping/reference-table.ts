import { namespacePaths } from './namespace-paths-table.ts'

/** The kind of name at a path of a manifest, which decides its form in the edge cluster. */
export type ReferenceSort =
  /** Name of a namespace. */
  | 'namespace'
  /** Name of an object without a namespace that each virtual cluster has its own of. */
  | 'ownName'
  /** A host name, perhaps of a service. */
  | 'hostName'
  /** A label selector of namespaces. */
  | 'namespaceSelector'
  /** List of a NetworkPolicy's peers. */
  | 'peers'
  /** The subject of a binding. */
  | 'subject'
  /** The namespaces whose routes a gateway accepts. */
  | 'allowedRoutes'

/** The kinds of names by path, with the steps of `changeAt`. */
export type References = Readonly<Record<string, ReferenceSort>>

/** A claim names its volume, and the source of its content. */
const claim = (spec: string): References => ({
  [`${spec}.volumeName`]: 'ownName',
  [`${spec}.dataSourceRef.namespace`]: 'namespace',
})

const affinityTerm = (term: string): References => ({
  [`${term}.namespaces.*`]: 'namespace',
  [`${term}.namespaceSelector`]: 'namespaceSelector',
})

const affinity = (kind: 'podAffinity' | 'podAntiAffinity'): References => ({
  ...affinityTerm(`affinity.${kind}.requiredDuringSchedulingIgnoredDuringExecution.*`),
  ...affinityTerm(
    `affinity.${kind}.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm`,
  ),
})

/** The references below the spec of a pod. */
export const podReferences: References = Object.freeze({
  ...affinity('podAffinity'),
  ...affinity('podAntiAffinity'),
  'dnsConfig.searches.*': 'hostName',
  ...claim('volumes.*.ephemeral.volumeClaimTemplate.spec'),
})

const others: Readonly<Record<string, References>> = {
  '/PersistentVolumeClaim': claim('spec'),
  '/Service': { 'spec.externalName': 'hostName' },
  'apps/StatefulSet': claim('spec.volumeClaimTemplates.*.spec'),
  'gateway.networking.k8s.io/Gateway': {
    'spec.listeners.*.allowedRoutes.namespaces': 'allowedRoutes',
  },
  'networking.k8s.io/NetworkPolicy': {
    'spec.ingress.*.from': 'peers',
    'spec.egress.*.to': 'peers',
  },
  'rbac.authorization.k8s.io/ClusterRoleBinding': { 'subjects.*': 'subject' },
  'rbac.authorization.k8s.io/RoleBinding': { 'subjects.*': 'subject' },
}

function namespacesAt(paths: readonly string[] = []): References {
  return Object.fromEntries(paths.map((path) => [path, 'namespace']))
}

/** The references of each kind outside its pod templates. Keys are group and kind. */
export const kindReferences: Readonly<Record<string, References>> = Object.freeze(
  Object.fromEntries(
    [...new Set([...Object.keys(namespacePaths), ...Object.keys(others)])].map((groupKind) => [
      groupKind,
      { ...others[groupKind], ...namespacesAt(namespacePaths[groupKind]) },
    ]),
  ),
)
