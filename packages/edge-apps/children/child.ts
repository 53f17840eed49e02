import type { JsonObject, KubeObject } from '@skerry/api'
import { contentHash } from './content-hash.ts'

/** An object that an application has in a group. */
export interface Child extends KubeObject {
  readonly [content: string]: unknown
  spec?: JsonObject
  status?: JsonObject
}

/** A reason why a group has no child, or not the one that the application asks for. */
export interface Refusal {
  readonly reason: string
  readonly message: string
}

export interface WantedChild {
  /** The name of its group; empty for an object that an application has once. */
  readonly group: string
  readonly kind: string
  readonly name: string
  /** The whole object as it is applied, or why there is none. */
  readonly manifest: Child | Refusal
}

export const annotations = Object.freeze({
  /** The group that the child is for. */
  group: 'edge.skerry.io/group',
  /** The hash of what was applied last, by which a change of the template is told from an edit of the child. */
  applied: 'edge.skerry.io/applied',
  /** The time at which the child's group lost its last node. */
  vanished: 'edge.skerry.io/group-vanished-at',
})

export function isRefusal(manifest: Child | Refusal): manifest is Refusal {
  return !('metadata' in manifest)
}

/** Completes a manifest by the annotations that its child is known by later. */
export function withApplied(group: string, manifest: Child): Child {
  const { metadata } = manifest
  const known = {
    ...metadata.annotations,
    ...(group === '' ? {} : { [annotations.group]: group }),
    [annotations.applied]: contentHash(manifest),
  }
  return { ...manifest, metadata: { ...metadata, annotations: known } }
}

/** Names a child among all kinds of its application. */
export function childKey(kind: string, name: string): string {
  return `${kind}/${name}`
}

export function keyOfChild({ kind, metadata }: Child): string {
  return childKey(kind, metadata.name ?? '')
}

export function appliedHash({ metadata }: Child): string | undefined {
  return metadata.annotations?.[annotations.applied]
}
