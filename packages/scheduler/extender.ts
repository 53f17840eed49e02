import type { Node, Pod } from '@skerry/api'
import type { PreemptionCandidate } from './plan-preemption.ts'

/** Reports an extender's error, or that it did not answer. The pod's event shows it unchanged. */
export class ExtenderError extends Error {
  override readonly name = 'ExtenderError'
}

export interface NodeVerdict {
  /** The names of the accepted nodes, in the extender's order. */
  readonly nodes: readonly string[]
  /** The reasons against other nodes, by node. */
  readonly failed: Readonly<Record<string, string>>
  /** The same for nodes where evicting other pods would not help. */
  readonly unresolvable: Readonly<Record<string, string>>
}

export interface ExtenderTarget {
  readonly pod: Pod
  readonly nodeName: string
}

/** A server that takes part in placing pods. Its calls reject with ExtenderError. */
export interface Extender {
  /** If true and the extender fails, the pod is placed without it. */
  readonly isIgnorable: boolean
  /** Undefined if not configured for the verb. */
  readonly filter?: (pod: Pod, nodes: readonly Node[], signal: AbortSignal) => Promise<NodeVerdict>
  /** Returns scores by node, already weighted, in the units of the plugins' scores. */
  readonly prioritize?: (
    pod: Pod,
    nodes: readonly Node[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, number>>
  /** Returns the accepted candidates, perhaps with other victims. */
  readonly preempt?: (
    pod: Pod,
    candidates: readonly PreemptionCandidate[],
    signal: AbortSignal,
  ) => Promise<readonly PreemptionVictims[]>
  readonly bind?: (target: ExtenderTarget, signal: AbortSignal) => Promise<void>
  /** An extender that manages resources is asked only for pods that request some of them. */
  isInterested(pod: Pod): boolean
}

/** Victims in the extender's format. */
export interface PreemptionVictims {
  readonly nodeName: string
  readonly uids: readonly string[]
  readonly violations: number
}
