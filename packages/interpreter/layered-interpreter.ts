import type { AnyObject } from '@skerry/api'
import type { InterpreterOperation, ResourceInterpreter } from './contract/resource-interpreter.ts'

/** Each question is for the first that knows an answer for the kind; the last one gets all others. */
export function layeredInterpreter(
  layers: readonly ResourceInterpreter[],
  last: ResourceInterpreter,
): ResourceInterpreter {
  const all = [...layers, last]
  const chosen = (object: AnyObject, operation: InterpreterOperation): ResourceInterpreter =>
    layers.find((layer) => layer.knows(object, operation)) ?? last
  return {
    knows: (object, operation) => all.some((layer) => layer.knows(object, operation)),
    replicas: (object, signal) => chosen(object, 'InterpretReplica').replicas(object, signal),
    components: (object, signal) => chosen(object, 'InterpretComponent').components(object, signal),
    reviseReplica: (object, replicas, signal) =>
      chosen(object, 'ReviseReplica').reviseReplica(object, replicas, signal),
    retain: (desired, observed, signal) =>
      chosen(desired, 'Retain').retain(desired, observed, signal),
    prune: (object, signal) => chosen(object, 'Prune').prune(object, signal),
    reflectStatus: (object, signal) =>
      chosen(object, 'InterpretStatus').reflectStatus(object, signal),
    aggregateStatus: (template, items, signal) =>
      chosen(template, 'AggregateStatus').aggregateStatus(template, items, signal),
    health: (object, signal) => chosen(object, 'InterpretHealth').health(object, signal),
    dependencies: (object, signal) =>
      chosen(object, 'InterpretDependency').dependencies(object, signal),
  }
}
