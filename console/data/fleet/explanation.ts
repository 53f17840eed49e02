/** The hub's explanation of the place of an object, and the addresses of objects that have one. Pure. */
import type { ObjectName, ResourceName } from '../hub/api-paths.ts'

export const standings = [
  'Failed',
  'Unhealthy',
  'Away',
  'Waiting',
  'Held',
  'Suspended',
  'Healthy',
  'NotPlaced',
] as const

/** The most important fact about an object in one cluster. The worst comes first in the list of all. */
export type Standing = (typeof standings)[number]

export interface ExplainedPolicy {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export interface ExplainedWave {
  readonly name: string
  readonly isOpen: boolean
  readonly well: number
  readonly needed: number
  readonly clusters: readonly string[]
}

export interface ExplainedCluster {
  readonly name: string
  readonly standing: Standing
  readonly replicas?: number
  readonly why: readonly string[]
  readonly overrides: readonly {
    readonly policy: string
    readonly namespace?: string
    readonly rule: number
  }[]
}

/** The answer of `/hub/v1/explain`, which is what `skerry explain -o json` prints. */
export interface Explanation {
  readonly claim: {
    readonly policy?: ExplainedPolicy
    readonly why: string
    readonly others: readonly { readonly policy: ExplainedPolicy; readonly why: string }[]
  }
  readonly scheduled?: {
    readonly status: string
    readonly reason: string
    readonly message: string
  }
  readonly waves: readonly ExplainedWave[]
  readonly clusters: readonly ExplainedCluster[]
}

/** The object of a binding. */
export interface BoundObject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export function explainPath({ apiVersion, kind, namespace, name }: BoundObject): string {
  const query = new URLSearchParams({ kind, name })
  const { group } = versionOf(apiVersion)
  if (group !== '') query.set('group', group)
  if (namespace !== undefined) query.set('namespace', namespace)
  return `/hub/v1/explain?${query.toString()}`
}

export function versionOf(apiVersion: string): Pick<ResourceName, 'group' | 'version'> {
  const at = apiVersion.indexOf('/')
  return at < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, at), version: apiVersion.slice(at + 1) }
}

const work = { group: 'work.karmada.io', version: 'v1alpha2' }

/** The binding of an application: a namespace is written as `-` in the address if the object has none. */
export function bindingOf(namespace: string, name: string): ObjectName {
  return namespace === '-'
    ? { ...work, resource: 'clusterresourcebindings', name }
    : { ...work, resource: 'resourcebindings', namespace, name }
}

/** The page of an application, by the name of its binding. */
export function applicationPage(binding: {
  readonly namespace?: string
  readonly name?: string
}): string {
  const { namespace = '', name = '' } = binding
  return `/applications/${encodeURIComponent(namespace || '-')}/${encodeURIComponent(name)}`
}

/** Returns the name of an object's binding, as Karmada gives it: colons, which roles have, become dots. */
export function bindingName(kind: string, name: string): string {
  return `${name.replaceAll(':', '.')}-${kind}`.toLowerCase()
}
