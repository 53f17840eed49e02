import type { AnyObject, JsonObject } from '@skerry/api'
import type {
  AggregatedStatusItem,
  BindingComponent,
  ReplicaRequirements,
  ResourceHealth,
} from '@skerry/karmada-kinds'
import type { DependentObject } from './dependent-object.ts'

/**
 * Interprets each kind for a fleet. Native kinds are built in; customizations and webhooks add others, or
 * replace these. Each method rejects if the kind's present rule fails.
 */
export interface ResourceInterpreter {
  /** Reports whether there is a rule for this operation: an unknown kind has no replicas to divide. */
  knows(object: AnyObject, operation: InterpreterOperation): boolean
  /** Resolves undefined for a kind without replicas. */
  replicas(object: AnyObject, signal: AbortSignal): Promise<InterpretedReplicas | undefined>
  /** Resolves undefined for a kind that does not have several components. */
  components(object: AnyObject, signal: AbortSignal): Promise<BindingComponent[] | undefined>
  reviseReplica(object: AnyObject, replicas: number, signal: AbortSignal): Promise<AnyObject>
  /** Resolves with the desired object, plus the fields that the cluster itself has set. */
  retain(desired: AnyObject, observed: AnyObject, signal: AbortSignal): Promise<AnyObject>
  prune(object: AnyObject, signal: AbortSignal): Promise<AnyObject>
  /** Resolves with the part of the status to report; undefined while there is none. */
  reflectStatus(object: AnyObject, signal: AbortSignal): Promise<JsonObject | undefined>
  /** The template with the status that its copies have together. */
  aggregateStatus(
    template: AnyObject,
    items: readonly AggregatedStatusItem[],
    signal: AbortSignal,
  ): Promise<AnyObject>
  health(object: AnyObject, signal: AbortSignal): Promise<ResourceHealth>
  dependencies(object: AnyObject, signal: AbortSignal): Promise<DependentObject[]>
}

/** The operations, as configurations of webhooks name them. */
export type InterpreterOperation =
  | 'InterpretReplica'
  | 'InterpretComponent'
  | 'ReviseReplica'
  | 'Retain'
  | 'Prune'
  | 'InterpretStatus'
  | 'AggregateStatus'
  | 'InterpretHealth'
  | 'InterpretDependency'

export interface InterpretedReplicas {
  readonly replicas: number
  readonly requirements?: ReplicaRequirements
}
