import { namespacePaths } from './namespace-paths-table.ts'

/** The sort of name that stands at a path of a manifest. It decides how the edge cluster calls it. */
export type ReferenceSort =
  /** Name of a namespace. */
  | 'namespace'
  /** Name of an object without a namespace that each virtual cluster has its own of. */
  | 'ownName'
  /** Host name, perhaps of a service. */
  | 'hostName'
  /** Label selector of namespaces. */
  | 'namespaceSelector'
  /** List of a NetworkPolicy's peers. */
  | 'peers'
  /** Subject of a binding. */
  | 'subject'
  /** The namespaces whose routes a gateway takes. */
  | 'allowedRoutes'

/** Keys are paths, with steps as those of `changeAt`. */
export type References = Readonly<Record<string, ReferenceSort>>

/** A claim names its volume, and where what it is filled from stands. */
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

/** Below the spec of a pod. */
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

/** Everything that a manifest names by itself, its pod templates aside. Keys are group and kind. */
export const kindReferences: Readonly<Record<string, References>> = Object.freeze(
  Object.fromEntries(
    [...new Set([...Object.keys(namespacePaths), ...Object.keys(others)])].map((groupKind) => [
      groupKind,
      { ...others[groupKind], ...namespacesAt(namespacePaths[groupKind]) },
    ]),
  ),
)
