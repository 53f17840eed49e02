/** The Works of a binding. Pure. */
import { listPath } from '../../data/api-paths.ts'
import type { Binding } from './application-rows.ts'

export const works = { group: 'work.karmada.io', version: 'v1alpha1', resource: 'works' }

/** Returns the label that a binding and its Works share; undefined until the hub has given the binding its id. */
export function workSelector({
  metadata: { namespace, labels = {} },
}: Binding): string | undefined {
  const kind = namespace === undefined ? 'clusterresourcebinding' : 'resourcebinding'
  const label = `${kind}.karmada.io/permanent-id`
  return labels[label] === undefined ? undefined : `${label}=${labels[label]}`
}

/** Lists what one cluster is sent for a binding. Works of a cluster stand in a namespace of its own. */
export function workPath(cluster: string, labelSelector: string): string {
  const query = new URLSearchParams({ labelSelector })
  return `${listPath(undefined, works, `karmada-es-${cluster}`)}?${query.toString()}`
}
