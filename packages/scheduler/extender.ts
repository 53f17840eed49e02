import type { Node, Pod } from '@skerry/api'
import type { PreemptionCandidate } from './plan-preemption.ts'

/** What an extender said, or that it did not answer: told to the pod as it is. */
export class ExtenderError extends Error {
  override readonly name = 'ExtenderError'
}

export interface NodeVerdict {
  /** Names of the nodes that are left, in the extender's order. */
  readonly nodes: readonly string[]
  /** Why others are not, by node. */
  readonly failed: Readonly<Record<string, string>>
  /** As `failed`; the eviction of other pods could not change it. */
  readonly unresolvable: Readonly<Record<string, string>>
}

export interface ExtenderTarget {
  readonly pod: Pod
  readonly nodeName: string
}

/** A server that has a say in where pods go. Its answers fail with ExtenderError. */
export interface Extender {
  /** When it fails, the pod is placed without it. */
  readonly isIgnorable: boolean
  /** Undefined where it was not configured for the verb. */
  readonly filter?: (pod: Pod, nodes: readonly Node[], signal: AbortSignal) => Promise<NodeVerdict>
  /** By node; already weighed, in the units of the plugins' scores. */
  readonly prioritize?: (
    pod: Pod,
    nodes: readonly Node[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, number>>
  /** The candidates that are left, perhaps with other victims. */
  readonly preempt?: (
    pod: Pod,
    candidates: readonly PreemptionCandidate[],
    signal: AbortSignal,
  ) => Promise<readonly PreemptionVictims[]>
  readonly bind?: (target: ExtenderTarget, signal: AbortSignal) => Promise<void>
  /** One that manages resources is asked for pods that want some of them only. */
  isInterested(pod: Pod): boolean
}

/** Victims as an extender names them. */
export interface PreemptionVictims {
  readonly nodeName: string
  readonly uids: readonly string[]
  readonly violations: number
}
