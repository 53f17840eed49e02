import type { AnyObject } from '@skerry/api'
import { pruned } from '@skerry/karmada-kinds'
import type {
  InterpretedReplicas,
  InterpreterOperation,
  ResourceInterpreter,
} from '../contract/resource-interpreter.ts'
import { aggregatedStatus, hasAggregationRule } from './aggregate-status.ts'
import { dependenciesOf, hasDependencyRule } from './dependencies.ts'
import { hasHealthRule, healthOf } from './health.ts'
import { podRequirements } from './pod-requirements.ts'
import { reflectedStatus } from './reflect-status.ts'
import { canReviseReplicas, replicasOf, withReplicas } from './replicas.ts'
import { hasRetainRule, retained } from './retain.ts'

/** Interprets native kinds, without customizations. */
export const nativeInterpreter: ResourceInterpreter = Object.freeze({
  knows: (object, operation) => rules[operation](object),
  replicas: async (object) => nativeReplicas(object),
  components: async () => undefined,
  reviseReplica: async (object, replicas) => withReplicas(object, replicas),
  retain: async (desired, observed) => retained(desired, observed),
  prune: async (object) => pruned(object),
  reflectStatus: async (object) => reflectedStatus(object),
  aggregateStatus: async (template, items) => aggregatedStatus(template, items),
  health: async (object) => healthOf(object),
  dependencies: async (object) => dependenciesOf(object),
} satisfies ResourceInterpreter)

const rules: Readonly<Record<InterpreterOperation, (object: AnyObject) => boolean>> = Object.freeze(
  {
    InterpretReplica: (object) => replicasOf(object) !== undefined,
    InterpretComponent: () => false,
    ReviseReplica: canReviseReplicas,
    Retain: hasRetainRule,
    // Every object loses the fields that API servers set.
    Prune: () => true,
    // A kind without a rule reports its whole status.
    InterpretStatus: () => true,
    AggregateStatus: hasAggregationRule,
    InterpretHealth: hasHealthRule,
    InterpretDependency: hasDependencyRule,
  },
)

function nativeReplicas(object: AnyObject): InterpretedReplicas | undefined {
  const found = replicasOf(object)
  if (found === undefined) return undefined
  const requirements = podRequirements(found.podSpec)
  return { replicas: found.replicas, ...(requirements ? { requirements } : {}) }
}
