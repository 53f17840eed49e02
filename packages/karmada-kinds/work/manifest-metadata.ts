import type { AnyObject } from '@skerry/api'
import { karmadaKeys } from './karmada-keys.ts'
import { pruned } from './prune.ts'

/** The Work that carries a manifest. */
export interface CarryingWork {
  readonly namespace: string
  readonly name: string
  readonly permanentId: string
}

/**
 * The manifest as a Work carries it: without what another API server has put into it, and with whose
 * it is and which of its labels and annotations came with it. Idempotent.
 */
export function carriedManifest(manifest: AnyObject, work: CarryingWork): AnyObject {
  const bare = pruned(manifest)
  const labels: Record<string, string> = {
    ...bare.metadata.labels,
    [karmadaKeys.managed]: 'true',
    [karmadaKeys.workId]: work.permanentId,
  }
  const annotations: Record<string, string> = {
    ...bare.metadata.annotations,
    [karmadaKeys.workNamespace]: work.namespace,
    [karmadaKeys.workName]: work.name,
  }
  const listed = new Set([
    ...Object.keys(annotations),
    karmadaKeys.managedAnnotations,
    karmadaKeys.managedLabels,
  ])
  annotations[karmadaKeys.managedAnnotations] = sortedList(listed)
  annotations[karmadaKeys.managedLabels] = sortedList(Object.keys(labels))
  return { ...bare, metadata: { ...bare.metadata, labels, annotations } }
}

function sortedList(keys: Iterable<string>): string {
  return [...keys].toSorted().join(',')
}
