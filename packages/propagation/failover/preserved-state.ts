import { evaluateJsonPath, parseJsonPath } from '@skerry/kinds'
import type { AnyObject } from '@skerry/api'
import type { BindingSpec, BindingStatus, StatePreservation } from '@skerry/karmada-kinds'

/**
 * Returns the parts of an object's status that move to the next cluster, as labels; undefined if there are
 * none. Throws Error if the status is not known yet, or lacks a value that a rule needs; the eviction then
 * waits.
 */
export function preservedState(
  preservation: StatePreservation | undefined,
  bindingStatus: BindingStatus | undefined,
  cluster: string,
): Record<string, string> | undefined {
  const rules = preservation?.rules ?? []
  if (rules.length === 0) return undefined
  const item = bindingStatus?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster)
  const status = item?.status
  if (status === undefined) {
    throw new Error(`Cannot evict: the application status of cluster "${cluster}" is not known yet`)
  }
  return Object.fromEntries(
    rules.map(({ aliasLabelName, jsonPath }) => [aliasLabelName, textAt(jsonPath, status)]),
  )
}

/**
 * The manifest with what the last eviction has kept, where the whole object moves at once from one cluster
 * to one where it was not before.
 */
export function withPreservedState(
  manifest: AnyObject,
  { clusters = [], requiredBy = [], gracefulEvictionTasks = [] }: BindingSpec,
  cluster: string,
): AnyObject {
  const targets = [...clusters, ...requiredBy.flatMap((each) => each.clusters ?? [])]
  if (new Set(targets.map(({ name }) => name)).size > 1) return manifest
  const {
    purgeMode,
    clustersBeforeFailover = [],
    preservedLabelState,
  } = gracefulEvictionTasks.at(-1) ?? {}
  const isAtOnce = purgeMode === 'Immediately' || purgeMode === 'Directly'
  if (!isAtOnce || clustersBeforeFailover.includes(cluster)) return manifest
  if (preservedLabelState === undefined) return manifest
  const labels = { ...manifest.metadata.labels, ...preservedLabelState }
  return { ...manifest, metadata: { ...manifest.metadata, labels } }
}

function textAt(path: string, status: unknown): string {
  // Rules have kubectl's form: {.path}
  const bare = path.replace(/^\{(.*)\}$/s, '$1')
  const values = evaluateJsonPath(parseJsonPath(bare), status)
  if (values.length === 0) {
    throw new Error(`Cannot evict: the application status has nothing at ${path}`)
  }
  return values
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(' ')
}
