import type { GroupResource } from '@skerry/api'

/** The resources that authentication, authorization, admission and subresources read by name. */
export const wellKnown = Object.freeze({
  configMaps: core('configmaps'),
  limitRanges: core('limitranges'),
  namespaces: core('namespaces'),
  nodes: core('nodes'),
  persistentVolumes: core('persistentvolumes'),
  persistentVolumeClaims: core('persistentvolumeclaims'),
  pods: core('pods'),
  resourceQuotas: core('resourcequotas'),
  secrets: core('secrets'),
  serviceAccounts: core('serviceaccounts'),
  services: core('services'),
  endpoints: core('endpoints'),
  clusterRoles: inGroup('rbac.authorization.k8s.io', 'clusterroles'),
  clusterRoleBindings: inGroup('rbac.authorization.k8s.io', 'clusterrolebindings'),
  roles: inGroup('rbac.authorization.k8s.io', 'roles'),
  roleBindings: inGroup('rbac.authorization.k8s.io', 'rolebindings'),
  csiDrivers: inGroup('storage.k8s.io', 'csidrivers'),
  csiNodes: inGroup('storage.k8s.io', 'csinodes'),
  storageClasses: inGroup('storage.k8s.io', 'storageclasses'),
  volumeAttachments: inGroup('storage.k8s.io', 'volumeattachments'),
  leases: inGroup('coordination.k8s.io', 'leases'),
  priorityClasses: inGroup('scheduling.k8s.io', 'priorityclasses'),
  runtimeClasses: inGroup('node.k8s.io', 'runtimeclasses'),
  ingressClasses: inGroup('networking.k8s.io', 'ingressclasses'),
  resourceSlices: inGroup('resource.k8s.io', 'resourceslices'),
  endpointSlices: inGroup('discovery.k8s.io', 'endpointslices'),
  podDisruptionBudgets: inGroup('policy', 'poddisruptionbudgets'),
})

function core(resource: string): GroupResource {
  return Object.freeze({ group: '', resource })
}

function inGroup(group: string, resource: string): GroupResource {
  return Object.freeze({ group, resource })
}

export function isResource(asked: GroupResource | undefined, resource: GroupResource): boolean {
  return asked?.group === resource.group && asked.resource === resource.resource
}
