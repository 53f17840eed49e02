/** The pods and containers behind an object. Pure. */
import { listPath, objectPath, type ObjectName } from '../hub/api-paths.ts'
import type { LogSource } from './log-path.ts'

/** A pod, or an object that has pods, as far as it is read here. */
export interface PodOwner {
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly spec?: {
    readonly containers?: readonly { readonly name: string }[]
    readonly initContainers?: readonly { readonly name: string }[]
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  }
}

const pods = { group: '', version: 'v1', resource: 'pods' }

/** The kinds whose selector finds their pods. */
const owners: ReadonlySet<string> = new Set([
  'deployments',
  'statefulsets',
  'daemonsets',
  'replicasets',
  'jobs',
])

export function isPod({ group, resource }: ObjectName): boolean {
  return group === '' && resource === 'pods'
}

export function hasLogs(object: ObjectName): boolean {
  return isPod(object) || (object.namespace !== undefined && owners.has(object.resource))
}

/** Lists the names of a pod's containers, those that run at the end first. */
export function containerNames({ spec }: PodOwner): string[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name }) => name)
}

/** Returns where the pods of an object are listed; undefined if its selector finds none that are its own. */
export function podsPath(
  cluster: string | undefined,
  { namespace }: ObjectName,
  owner: PodOwner,
): string | undefined {
  const labels = Object.entries(owner.spec?.selector?.matchLabels ?? {})
  if (labels.length === 0) return undefined
  const selector = labels.map(([key, value]) => `${key}=${value}`).join(',')
  return `${listPath(cluster, pods, namespace)}?labelSelector=${encodeURIComponent(selector)}`
}

/** Lists the logs of pods, in the order of their names; init containers are left out if there are several pods. */
export function logSources(
  cluster: string | undefined,
  found: readonly PodOwner[],
  container: string,
): LogSource[] {
  return found.flatMap((pod) => {
    const { name = '', namespace = '' } = pod.metadata ?? {}
    const names = (pod.spec?.containers ?? []).map((each) => each.name)
    const wanted =
      container === '' ? names : containerNames(pod).filter((each) => each === container)
    return wanted.map((each) => ({
      name: `${name}/${each}`,
      container: each,
      path: `${objectPath(cluster, { ...pods, namespace, name })}/log`,
    }))
  })
}
