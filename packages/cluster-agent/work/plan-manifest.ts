import { equalJson, type AnyObject } from '@skerry/api'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { nativeInterpreter, type ResourceInterpreter } from '@skerry/interpreter'
import { withSiteOwned } from './site-owned.ts'

/** The action that one manifest requires in the cluster. */
export type ManifestPlan =
  | { readonly act: 'create' | 'update'; readonly object: AnyObject }
  | { readonly act: 'keep' }
  | { readonly act: 'refuse'; readonly why: string }

export interface ManifestPlace {
  readonly cluster: string
  readonly desired: AnyObject
  /** The cluster's object of that name; undefined if there is none. */
  readonly observed: AnyObject | undefined
  /** If omitted, only native kinds are known. */
  readonly interpreter?: ResourceInterpreter
}

/**
 * Plans how the cluster gets the desired object. An object that is not Karmada's is left alone, unless the
 * manifest allows taking it over. Rejects as the interpreter's `retain` does.
 */
export async function planManifest(
  { cluster, desired, observed, interpreter = nativeInterpreter }: ManifestPlace,
  signal: AbortSignal,
): Promise<ManifestPlan> {
  if (observed === undefined) return { act: 'create', object: desired }
  const takesOver = desired.metadata.annotations?.[karmadaKeys.conflictResolution] === 'overwrite'
  if (!isManaged(observed) && !takesOver) {
    const { namespace = '', name = '' } = desired.metadata
    const what = `resource(kind=${desired.kind}, ${namespace}/${name})`
    const why = `${what} already exists in the cluster ${cluster} and the ${karmadaKeys.conflictResolution} strategy value is empty, Karmada will not manage this resource`
    return { act: 'refuse', why }
  }
  const retained = await interpreter.retain(withKeptMetadata(desired, observed), observed, signal)
  const object = withSiteOwned(retained, observed)
  // Both sides went through the same steps, so a difference is a wanted change.
  const present = withKeptMetadata(await interpreter.prune(observed, signal), observed)
  return equalJson(object, present) ? { act: 'keep' } : { act: 'update', object }
}

/** Reports whether an object of the cluster may be changed and deleted on behalf of a Work. */
export function isManaged({ metadata }: AnyObject): boolean {
  return metadata.labels?.[karmadaKeys.managed] === 'true'
}

/** Keeps finalizers, owners, and the labels and annotations that the cluster's own controllers have added. */
function withKeptMetadata(desired: AnyObject, { metadata: there }: AnyObject): AnyObject {
  const { labels, annotations, ...rest } = desired.metadata
  const came = (key: string): string => there.annotations?.[key] ?? ''
  const merged = {
    labels: merge(labels, there.labels, came(karmadaKeys.managedLabels)),
    annotations: merge(annotations, there.annotations, came(karmadaKeys.managedAnnotations)),
  }
  return {
    ...desired,
    metadata: {
      ...rest,
      ...(Object.keys(merged.labels).length > 0 ? { labels: merged.labels } : {}),
      ...(Object.keys(merged.annotations).length > 0 ? { annotations: merged.annotations } : {}),
      ...(there.resourceVersion ? { resourceVersion: there.resourceVersion } : {}),
      ...(there.finalizers ? { finalizers: there.finalizers } : {}),
      ...(there.ownerReferences ? { ownerReferences: there.ownerReferences } : {}),
    },
  }
}

/**
 * Removes keys that came with an earlier manifest and are no longer wanted; keeps those that the cluster
 * added.
 */
function merge(
  wanted: Readonly<Record<string, string>> = {},
  there: Readonly<Record<string, string>> = {},
  managedList: string,
): Record<string, string> {
  const managed = new Set(managedList.split(','))
  const added = Object.entries(there).filter(([key]) => !managed.has(key))
  return { ...Object.fromEntries(added), ...wanted }
}
