/**
 * cel: the Common Expression Language. An environment says which variables and functions there are;
 * it compiles a text into a program, which is evaluated under a cost limit. Nothing here waits or
 * touches anything outside, and no expression runs longer than its cost allows. It knows no
 * Kubernetes word: what Kubernetes adds is a library of packages/api/cel.
 * Start reading at environment.ts.
 */
export {
  createEnvironment,
  type Bindings,
  type CelEnvironment,
  type CelProgram,
  type CompileOptions,
  type EnvironmentOptions,
  type EvaluateOptions,
  type Evaluation,
  type SizesOf,
} from './environment.ts'
export {
  celTypes,
  listType,
  mapType,
  objectType,
  opaqueType,
  optionalType,
  typeParameter,
  typeText,
  type CelType,
  type ListKind,
  type ObjectField,
  type ObjectType,
  type ScalarKind,
} from './cel-type.ts'
export {
  CelDuration,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelList,
  type CelMap,
  type CelObject,
  type CelValue,
} from './cel-value.ts'
export { CelCompileError, CelCostError, CelRuntimeError, type CelIssue } from './cel-errors.ts'
export type {
  CallEstimate,
  CelLibrary,
  FunctionDeclaration,
  Overload,
  Range,
  SizeEstimate,
} from './library.ts'
