import type { AnyObject } from '@skerry/api'
import { virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { contentOf, sharerPatch, sharersOf } from './shared-object.ts'
import { clusterAgentBounds } from '../limits-table.ts'

/**
 * The plan for one virtual cluster's wish about a shared object. Pure. `note` is a merge patch that records
 * the wish and must be sent first; omitted if it is already recorded.
 */
export type SharedPlan =
  /** Create or keep the wanted state, like any other object. */
  | { readonly act: 'have'; readonly note?: object }
  /** Others want something else. */
  | { readonly act: 'refuse'; readonly why: string; readonly note?: object }

interface Shared {
  readonly cluster: string
  readonly desired: AnyObject
  readonly observed: AnyObject | undefined
}

/**
 * Plans for a shared object. It stays as the first cluster sent it until all who share it want it changed: so
 * none of them changes it under another, and they can still change it together.
 */
export function planShared({ cluster, desired, observed }: Shared): SharedPlan {
  if (observed === undefined) return { act: 'have' }
  const stranger = strangerRefusal(desired, observed)
  if (stranger !== undefined) return refusal(desired, stranger)
  const wanted = contentOf(desired)
  const present = contentOf(observed)
  if (wanted === '' && present === '') return { act: 'have' }
  if (wanted === '' || present === '') {
    const owner = wanted === '' ? 'is shared by virtual clusters' : "is the edge cluster's own"
    return refusal(desired, `already exists, and ${owner}: it is left alone`)
  }
  const there = sharersOf(observed)
  const note = there.get(cluster) === wanted ? {} : { note: sharerPatch(cluster, wanted) }
  const others = [...there].filter(([name, hash]) => name !== cluster && hash !== wanted)
  if (wanted === present || others.length === 0) return { act: 'have', ...note }
  const names = others.map(([name]) => `"${name}"`)
  const why = `differs from the object that virtual cluster ${namesText(names)} has sent, and they share it: send the same to all of them`
  return { ...refusal(desired, why), ...note }
}

const { namesMax } = clusterAgentBounds.planShared

function namesText(names: string[]): string {
  const shown = names.toSorted().slice(0, namesMax).join(', ')
  return names.length > namesMax ? `${shown} and ${names.length - namesMax} more` : shown
}

/** An object under a virtual cluster's own name, that the edge cluster or another one has. */
function strangerRefusal(desired: AnyObject, observed: AnyObject): string | undefined {
  const cluster = ownerOf(desired)
  const owner = ownerOf(observed)
  if (cluster === undefined || cluster === owner) return undefined
  const whose = owner === undefined ? "the edge cluster's own" : `virtual cluster "${owner}"'s`
  return `already exists, and is ${whose}: it is left alone`
}

function ownerOf({ metadata }: AnyObject): string | undefined {
  return metadata.labels?.[virtualNamespaceLabels.cluster]
}

/** The remaining action when a virtual cluster no longer wants an object. */
export type LeavingPlan =
  /** The object does not belong to this cluster. */
  | { readonly act: 'leave' }
  /** Send this merge patch; if no other sharer is left then, delete the object. */
  | { readonly act: 'part'; readonly patch: object }
  | { readonly act: 'take' }

export function planLeaving({ cluster, desired, observed }: Shared): LeavingPlan {
  const isShared = contentOf(desired) !== ''
  const isSharedThere = observed !== undefined && contentOf(observed) !== ''
  if (observed === undefined || isShared !== isSharedThere) return { act: 'leave' }
  if (!isShared) return { act: 'take' }
  const there = sharersOf(observed)
  if (there.has(cluster)) return { act: 'part', patch: sharerPatch(cluster, null) }
  // The last sharer may have stopped before it could delete the object.
  return { act: there.size === 0 ? 'take' : 'leave' }
}

function refusal({ kind, metadata }: AnyObject, why: string) {
  return { act: 'refuse' as const, why: `Cannot have ${kind} "${metadata.name ?? ''}": it ${why}` }
}
