import type { AnyObject, JsonObject } from '@skerry/api'
import type {
  AggregatedStatusItem,
  BindingComponent,
  ReplicaRequirements,
  ResourceHealth,
} from '@skerry/karmada-kinds'
import type { DependentObject } from './dependent-object.ts'

/**
 * What a fleet must know of each kind. Native kinds are known; customizations and webhooks teach
 * others, or teach these anew. Each method rejects when the rule that is in force for the kind fails.
 */
export interface ResourceInterpreter {
  /** Whether there is a rule for this operation: an unknown kind has no replicas to divide. */
  knows(object: AnyObject, operation: InterpreterOperation): boolean
  /** Undefined of a kind without replicas. */
  replicas(object: AnyObject, signal: AbortSignal): Promise<InterpretedReplicas | undefined>
  /** Undefined of a kind that is not made of several parts. */
  components(object: AnyObject, signal: AbortSignal): Promise<BindingComponent[] | undefined>
  reviseReplica(object: AnyObject, replicas: number, signal: AbortSignal): Promise<AnyObject>
  /** What is wanted, with what the cluster itself has put into its object. */
  retain(desired: AnyObject, observed: AnyObject, signal: AbortSignal): Promise<AnyObject>
  prune(object: AnyObject, signal: AbortSignal): Promise<AnyObject>
  /** What of the status goes back; undefined while there is none. */
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

/** As webhooks' configurations name them. */
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
