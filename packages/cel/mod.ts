/**
 * cel: the Common Expression Language. An environment declares variables and functions. It compiles a
 * text into a program, which is evaluated under a cost limit. Nothing here waits or has side effects,
 * and no expression runs longer than its cost allows. It knows no Kubernetes term: Kubernetes'
 * extensions are a library of packages/kinds/cel.
 * Start reading at environment.ts.
 */
export {
  createEnvironment,
  type Bindings,
  type CelEnvironment,
  type CelProgram,
} from './environment.ts'
export {
  celTypes,
  listType,
  mapType,
  objectType,
  opaqueType,
  optionalType,
  typeText,
  type CelType,
  type ObjectField,
  type ObjectType,
} from './language/cel-type.ts'
export {
  CelDuration,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelObject,
  type CelValue,
} from './language/cel-value.ts'
export { CelCompileError, CelCostError, CelRuntimeError } from './language/cel-errors.ts'
export type { CelLibrary, FunctionDeclaration } from './check/library.ts'
export { bindingLibrary, optionalLibrary, twoVariableLibrary } from './functions/optionals.ts'
export { listExtensionLibrary, listLibrary, setLibrary } from './functions/lists.ts'
export { patternOf, regexLibrary, stringLibrary } from './functions/texts.ts'
export { declare, member, plain } from './functions/declare.ts'
export {
  nominal,
  copying,
  sizeAt,
  traversing,
  type Estimate,
} from './estimate/standard-estimates.ts'
export { fixedRange, scaled, sum, unbounded } from './estimate/range.ts'
export { traversalCost } from './evaluate/plan.ts'
export { jsonOfValue, valueOfJson } from './values/json-values.ts'
export { isList, isMap, itemsOf, listOf, noSuchOverload, sizeOf } from './values/kinds.ts'
export { areEqual } from './values/equality.ts'
