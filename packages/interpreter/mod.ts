/**
 * interpreter: answers what a fleet must know of each kind: its replicas, health, dependencies, and which fields a cluster
 * owns. Native kinds and well-known projects have rules in native/ and thirdparty/; customizations (Lua) and webhooks
 * override them.
 * Start reading at contract/resource-interpreter.ts, then create-interpreter.ts.
 */
export type { DependentObject } from './contract/dependent-object.ts'
export type {
  InterpretedReplicas,
  InterpreterOperation,
  ResourceInterpreter,
} from './contract/resource-interpreter.ts'
export { interpreterOf, localInterpreterOf, type InterpreterClock } from './create-interpreter.ts'
export { nativeInterpreter } from './native/native-interpreter.ts'
