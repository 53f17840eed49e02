import type { AnyObject } from '@skerry/api'
import { virtualNamespaceLabels } from '../virtual-group.ts'
import {
  contentOf,
  sharedByAnnotation,
  sharersOf,
  sharersText,
  withSharers,
} from './shared-object.ts'

/** What one virtual cluster's wish makes of an object that several share. Pure. */
export type SharedPlan =
  /** Make or keep this one, like any other object. */
  | { readonly act: 'have'; readonly object: AnyObject }
  /** Others want it otherwise. `note` is a merge patch that says what this one wants; absent: it is said. */
  | { readonly act: 'refuse'; readonly why: string; readonly note?: object }

interface Shared {
  readonly cluster: string
  readonly desired: AnyObject
  readonly observed: AnyObject | undefined
}

/**
 * An object is as the first has sent it, until all who share it want it otherwise: so one of them
 * never changes it under another, and they may still change it together.
 */
export function planShared({ cluster, desired, observed }: Shared): SharedPlan {
  const isShared = sharersOf(desired).size > 0
  if (observed === undefined) return { act: 'have', object: desired }
  const stranger = strangerRefusal(desired, observed)
  if (stranger !== undefined) return refusal(desired, stranger)
  const there = sharersOf(observed)
  if (!isShared && there.size === 0) return { act: 'have', object: desired }
  if (!isShared || there.size === 0) {
    const owner = isShared ? "is the edge cluster's own" : 'is shared by virtual clusters'
    return refusal(desired, `already exists, and ${owner}: it is left alone`)
  }
  const wanted = contentOf(desired)
  const sharers = new Map([...there, [cluster, wanted]])
  const others = [...there].filter(([name, hash]) => name !== cluster && hash !== wanted)
  if (wanted === contentOf(observed) || others.length === 0) {
    return { act: 'have', object: withSharers(desired, { sharers, content: wanted }) }
  }
  const names = others
    .map(([name]) => `"${name}"`)
    .toSorted()
    .join(', ')
  const why = `differs from what virtual cluster ${names} has sent, and they share it: send the same to all of them`
  const isNoted = there.get(cluster) === wanted
  return { ...refusal(desired, why), ...(isNoted ? {} : { note: sharersPatch(observed, sharers) }) }
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

/** What is left to do when a virtual cluster wants an object no more. */
export type LeavingPlan =
  /** It is not this one's, or remains for others: this merge patch, if any, is all there is to do. */
  | { readonly act: 'leave'; readonly patch?: object }
  /** It was this one's alone, or is not shared. */
  | { readonly act: 'take' }

export function planLeaving({ cluster, desired, observed }: Shared): LeavingPlan {
  const there = observed ? sharersOf(observed) : new Map<string, string>()
  const isShared = sharersOf(desired).size > 0
  if (observed === undefined || (!isShared && there.size === 0)) return { act: 'take' }
  if (!isShared || !there.has(cluster)) return { act: 'leave' }
  const rest = new Map([...there].filter(([name]) => name !== cluster))
  return rest.size === 0 ? { act: 'take' } : { act: 'leave', patch: sharersPatch(observed, rest) }
}

/** Only if nobody else has changed it meanwhile. */
function sharersPatch({ metadata }: AnyObject, sharers: ReadonlyMap<string, string>): object {
  const annotations = { [sharedByAnnotation]: sharersText(sharers) }
  return { metadata: { annotations, resourceVersion: metadata.resourceVersion ?? '' } }
}

function refusal({ kind, metadata }: AnyObject, why: string) {
  return { act: 'refuse' as const, why: `Cannot have ${kind} "${metadata.name ?? ''}": it ${why}` }
}
