/** The priority of a group in discovery, and of a version within it. Higher comes first. */
export interface ApiPriority {
  readonly group: number
  readonly version: number
}

/** The priorities with which upstream registers its own group versions, keyed `version.group`. */
export const builtinPriorities: Readonly<Record<string, ApiPriority>> = Object.freeze({
  'v1.': { group: 18_000, version: 1 },
  'v1.apps': { group: 17_800, version: 15 },
  'v1.events.k8s.io': { group: 17_750, version: 15 },
  'v1.authentication.k8s.io': { group: 17_700, version: 15 },
  'v1.authorization.k8s.io': { group: 17_600, version: 15 },
  'v1.autoscaling': { group: 17_500, version: 15 },
  'v2.autoscaling': { group: 17_500, version: 30 },
  'v1.batch': { group: 17_400, version: 15 },
  'v1.certificates.k8s.io': { group: 17_300, version: 15 },
  'v1.networking.k8s.io': { group: 17_200, version: 15 },
  'v1.policy': { group: 17_100, version: 15 },
  'v1.rbac.authorization.k8s.io': { group: 17_000, version: 15 },
  'v1.storage.k8s.io': { group: 16_800, version: 15 },
  'v1.apiextensions.k8s.io': { group: 16_700, version: 15 },
  'v1.admissionregistration.k8s.io': { group: 16_700, version: 15 },
  'v1.scheduling.k8s.io': { group: 16_600, version: 15 },
  'v1.coordination.k8s.io': { group: 16_500, version: 15 },
  'v1.node.k8s.io': { group: 16_300, version: 15 },
  'v1.discovery.k8s.io': { group: 16_200, version: 15 },
  'v1.resource.k8s.io': { group: 16_200, version: 21 },
  'v1.flowcontrol.apiserver.k8s.io': { group: 16_100, version: 21 },
})

/** The priority of every CRD's group versions. */
export const customPriority: ApiPriority = Object.freeze({ group: 1_000, version: 100 })
