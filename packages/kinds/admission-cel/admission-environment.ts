import {
  celTypes,
  CelCompileError,
  createEnvironment,
  listType,
  objectType,
  typeText,
  type CelEnvironment,
  type CelProgram,
  type CelType,
} from '@skerry/cel'
import { admissionTypes, namespaceType, requestType } from './admission-types.ts'
import { authorizerLibrary, authorizerType, resourceCheckType } from '../cel/authorizer-library.ts'
import { kubernetesLibraries } from '../cel/kubernetes-libraries.ts'
import { jsonPatchLibrary, jsonPatchType, objectRoot, patchTypesIn } from './patch-types.ts'
import type { TypedSchema } from './typed-schema.ts'

export interface Declarations {
  readonly hasParams: boolean
  readonly hasAuthorizer: boolean
  /** True for mutations: Object and JSONPatch can be constructed. */
  readonly hasPatchTypes?: boolean
  /** The types of the policy's own variables that precede the expression. */
  readonly variables?: Readonly<Record<string, CelType>>
  /** The schemas of the objects, if an expression is only checked. If omitted, their types are unknown. */
  readonly typed?: { readonly object?: TypedSchema; readonly params?: TypedSchema }
}

export const variablesTypeName = 'kubernetes.variables'

const shared = new Map<string, CelEnvironment>()

/** Caches environments without variables of their own. */
function admissionEnvironment(declared: Declarations): CelEnvironment {
  if (declared.variables || declared.typed) return makeEnvironment(declared)
  const key = JSON.stringify([
    declared.hasParams,
    declared.hasAuthorizer,
    declared.hasPatchTypes === true,
  ])
  const known = shared.get(key) ?? makeEnvironment(declared)
  shared.set(key, known)
  return known
}

function makeEnvironment({
  hasParams,
  hasAuthorizer,
  hasPatchTypes = false,
  variables,
  typed = {},
}: Declarations): CelEnvironment {
  const { dyn } = celTypes
  const composed = Object.entries(variables ?? {}).map(([name, type]) => [name, { type }] as const)
  const types = {
    ...admissionTypes,
    ...typed.object?.types,
    ...typed.params?.types,
    ...(variables ? { [variablesTypeName]: { fields: Object.fromEntries(composed) } } : {}),
  }
  return createEnvironment({
    variables: {
      object: typed.object?.type ?? dyn,
      oldObject: typed.object?.type ?? dyn,
      request: requestType,
      namespaceObject: namespaceType,
      ...(hasParams ? { params: typed.params?.type ?? dyn } : {}),
      ...(hasAuthorizer
        ? { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType }
        : {}),
      ...(variables ? { variables: objectType(variablesTypeName) } : {}),
    },
    types,
    libraries: [
      ...kubernetesLibraries,
      authorizerLibrary,
      ...(hasPatchTypes ? [jsonPatchLibrary] : []),
    ],
  })
}

const fullNames: Readonly<Partial<Record<CelType['kind'], string>>> = Object.freeze({
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
})

/** Policies use a type's full name where the language's messages use a short one. */
function typeName(type: CelType): string {
  return fullNames[type.kind] ?? typeText(type)
}

/** An expression that was compiled, or the reason why it was not; each policy keeps both. */
export type Compiled =
  | { readonly text: string; readonly program: CelProgram }
  | { readonly text: string; readonly error: string }

/** `results` lists the allowed result types. If the list is empty, any type is allowed. */
export function compileExpression(
  declared: Declarations,
  text: string,
  results: readonly CelType[],
): Compiled {
  const plain = admissionEnvironment(declared)
  const environment = declared.hasPatchTypes ? plain.extend({ types: patchTypesIn(text) }) : plain
  try {
    const program = environment.compile(text)
    const got = typeName(program.resultType)
    const wanted = results.map(typeName)
    if (wanted.length === 0 || wanted.includes(got)) return { text, program }
    const list = wanted.length === 1 ? wanted[0] : `one of [${wanted.join(' ')}]`
    return { text, error: `must evaluate to ${list} but got ${got}` }
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error
    return { text, error: `compilation failed: ${error.message}` }
  }
}

/** Returns the errors against the declared types, or undefined if there are none. */
export function typeIssues(declared: Declarations, text: string): string | undefined {
  try {
    admissionEnvironment(declared).compile(text)
    return undefined
  } catch (error) {
    if (error instanceof CelCompileError) return error.message
    throw error
  }
}

export interface NamedExpression {
  readonly name: string
  readonly compiled: Compiled
}

/** Compiles variables in their order. Each sees the types of those before it. */
export function compileVariables(
  variables: readonly { readonly name: string; readonly expression: string }[],
  declared: Declarations,
): { readonly variables: readonly NamedExpression[]; readonly declared: Declarations } {
  if (variables.length === 0) return { variables: [], declared }
  const types: Record<string, CelType> = {}
  const named = variables.map(({ name, expression }) => {
    const compiled = compileExpression({ ...declared, variables: { ...types } }, expression, [])
    types[name] = 'program' in compiled ? compiled.program.resultType : celTypes.dyn
    return { name, compiled }
  })
  return { variables: named, declared: { ...declared, variables: types } }
}

/** The allowed result types of each type of expression. */
export const expressionResults = Object.freeze({
  condition: Object.freeze([celTypes.bool]),
  message: Object.freeze([celTypes.string]),
  auditAnnotation: Object.freeze([celTypes.string, celTypes.null]),
  applyConfiguration: Object.freeze([objectType(objectRoot)]),
  jsonPatch: Object.freeze([listType(jsonPatchType)]),
})
