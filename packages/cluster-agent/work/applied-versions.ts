import type { AnyObject } from '@skerry/api'
import type { Work } from '@skerry/karmada-kinds'
import { memberKey } from './member-cluster.ts'
import { contentOf, sharedVersion } from './shared-object.ts'

/**
 * Records which version of each object was applied from which Work. A cluster fills in defaults, and its
 * webhooks may change anything, so an object that differs from its manifest need not have been changed since.
 * Holds two short texts for each applied object.
 */
export class AppliedVersions {
  readonly #versions = new Map<string, { readonly work: string; readonly object: string }>()

  onApplied(work: Work, desired: AnyObject, made: AnyObject): void {
    this.#versions.set(memberKey(desired), { work: workVersion(work), object: objectVersion(made) })
  }

  /** False also when this process has not applied it yet. */
  isCurrent(work: Work, desired: AnyObject, observed: AnyObject): boolean {
    const known = this.#versions.get(memberKey(desired))
    return (
      known?.work === workVersion(work) &&
      known.object === objectVersion(observed) &&
      hasAll(observed.metadata.labels, desired.metadata.labels) &&
      hasAll(observed.metadata.annotations, desired.metadata.annotations)
    )
  }

  forget(desired: AnyObject): void {
    this.#versions.delete(memberKey(desired))
  }
}

function workVersion({ metadata }: Work): string {
  return `${metadata.uid ?? ''} ${metadata.generation ?? 0}`
}

/**
 * Returns the generation, which changes only with the wanted state, or the resourceVersion for kinds without
 * one.
 */
function objectVersion(object: AnyObject): string {
  const { uid = '', generation = 0, resourceVersion = '' } = object.metadata
  if (generation > 0) return `${uid} gen:${generation}`
  if (contentOf(object) !== '') return `${uid} shared:${sharedVersion(object)}`
  return `${uid} rv:${resourceVersion}`
}

/** Labels and annotations do not change the generation. */
function hasAll(
  there: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([key, value]) => there[key] === value)
}
