import { resources } from '@skerry/client'
import type { KnownResource } from '@skerry/client'
import { anyChildren } from './app-kind.ts'
import type { Child } from './child.ts'

/** A kind whose manifests an application may carry as they are. */
export interface ManifestKind {
  readonly resource: KnownResource<Child>
  /** The path of its template of pods. */
  readonly podTemplate?: readonly string[]
  readonly hasReplicas?: boolean
}

const template = ['spec', 'template'] as const
const jobTemplate = ['spec', 'jobTemplate', 'spec', 'template'] as const

/**
 * The kinds that Kubernetes' role `edit` lets a person write in a namespace. An application is written with the rights of
 * this program: with other kinds, a person who may write applications could e.g. take any role.
 */
export const manifestKinds: readonly ManifestKind[] = Object.freeze([
  { resource: anyChildren(resources.deployments), podTemplate: template, hasReplicas: true },
  { resource: anyChildren(resources.statefulSets), podTemplate: template, hasReplicas: true },
  { resource: anyChildren(resources.daemonSets), podTemplate: template },
  { resource: anyChildren(resources.jobs), podTemplate: template },
  { resource: anyChildren(resources.cronJobs), podTemplate: jobTemplate },
  { resource: anyChildren(resources.services) },
  { resource: anyChildren(resources.configMaps) },
  { resource: anyChildren(resources.secrets) },
  { resource: anyChildren(resources.serviceAccounts) },
  { resource: anyChildren(resources.persistentVolumeClaims) },
  { resource: anyChildren(resources.ingresses) },
  { resource: anyChildren(resources.networkPolicies) },
  { resource: anyChildren(resources.horizontalPodAutoscalers) },
  { resource: anyChildren(resources.podDisruptionBudgets) },
])

export function apiVersionOf({ group, version }: KnownResource<Child>): string {
  return group === '' ? version : `${group}/${version}`
}
