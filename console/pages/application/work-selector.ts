/** The Works of a binding. Pure. */
import { listPath } from '../../data/hub/api-paths.ts'
import type { TableRow } from '../../data/objects/table-rows.ts'
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

/** Works of a cluster stand in a namespace of its own. */
const namespacePrefix = 'karmada-es-'

/** Lists the Works of a binding, for one cluster or for all. */
export function workPath(cluster: string | undefined, labelSelector: string): string {
  const query = new URLSearchParams({ labelSelector })
  const namespace = cluster === undefined ? undefined : `${namespacePrefix}${cluster}`
  return `${listPath(undefined, works, namespace)}?${query.toString()}`
}

/** Returns since when each cluster has had a Work, by the rows of their Table. */
export function sentSince(rows: readonly TableRow[]): ReadonlyMap<string, number> {
  return new Map(
    rows.flatMap(({ metadata: { namespace = '', creationTimestamp = '' } }): [string, number][] =>
      namespace.startsWith(namespacePrefix)
        ? [[namespace.slice(namespacePrefix.length), Date.parse(creationTimestamp)]]
        : [],
    ),
  )
}
