import {
  CelCompileError,
  celTypes,
  createEnvironment,
  optionalType,
  type CelEnvironment,
  type CelProgram,
} from '@skerry/cel'
import { authorizerLibrary } from './authorizer-library.ts'
import { isJsonObject, type JsonObject, type Schema } from '@skerry/api'
import { kubernetesLibraries } from './kubernetes-libraries.ts'
import type { DeclaredType, ObjectTypes } from './schema-types.ts'

/** One entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string | undefined
  readonly fieldPath: string
  readonly optionalOldSelf: boolean | undefined
}

export interface CompiledRule extends ValidationRule {
  /** Omitted if the rule is empty or invalid. */
  readonly program?: CelProgram
  readonly error?: string
  readonly usesOldSelf: boolean
  readonly messageProgram?: CelProgram
  readonly messageError?: string
}

export function rulesOf(schema: Schema): JsonObject[] {
  const rules = schema.validations?.['x-kubernetes-validations']
  return Array.isArray(rules) ? rules.filter(isJsonObject) : []
}

/** Compiles the rules of one place separately: an error in one does not affect the others. */
export function compileRules(
  rules: readonly JsonObject[],
  declared: DeclaredType,
  types: ObjectTypes,
): CompiledRule[] {
  let plain: CelEnvironment | undefined
  let optional: CelEnvironment | undefined
  return rules.map((json) => {
    const rule = readRule(json)
    if (rule.optionalOldSelf === true) {
      optional ??= environmentOf(declared, types, true)
      return compileRule(rule, optional)
    }
    plain ??= environmentOf(declared, types, false)
    return compileRule(rule, plain)
  })
}

let shared: CelEnvironment | undefined

/** The environment of every expression in Kubernetes, without variables. */
export function kubernetesEnvironment(): CelEnvironment {
  shared ??= createEnvironment({
    variables: {},
    libraries: [...kubernetesLibraries, authorizerLibrary],
  })
  return shared
}

function environmentOf(
  { type }: DeclaredType,
  types: ObjectTypes,
  isOptional: boolean,
): CelEnvironment {
  const variables = { self: type, oldSelf: isOptional ? optionalType(type) : type }
  return kubernetesEnvironment().extend({ variables, types })
}

function textAt(json: JsonObject, key: string): string {
  const value = json[key]
  return typeof value === 'string' ? value : ''
}

export function readRule(json: JsonObject): ValidationRule {
  const { reason, optionalOldSelf } = json
  return {
    rule: textAt(json, 'rule'),
    message: textAt(json, 'message'),
    messageExpression: textAt(json, 'messageExpression'),
    reason: typeof reason === 'string' ? reason : undefined,
    fieldPath: textAt(json, 'fieldPath'),
    optionalOldSelf: typeof optionalOldSelf === 'boolean' ? optionalOldSelf : undefined,
  }
}

function compileRule(rule: ValidationRule, environment: CelEnvironment): CompiledRule {
  if (rule.rule.trim() === '') return { ...rule, usesOldSelf: false }
  const compiled = compileText(rule.rule, environment)
  if (typeof compiled === 'string') {
    return { ...rule, error: `compilation failed: ${compiled}`, usesOldSelf: false }
  }
  if (compiled.resultType.kind !== celTypes.bool.kind) {
    return { ...rule, error: 'cel expression must evaluate to a bool', usesOldSelf: false }
  }
  const made = { ...rule, program: compiled, usesOldSelf: compiled.variables.has('oldSelf') }
  return rule.messageExpression === '' ? made : { ...made, ...compileMessage(rule, environment) }
}

function compileMessage(
  { messageExpression }: ValidationRule,
  environment: CelEnvironment,
): Pick<CompiledRule, 'messageProgram' | 'messageError'> {
  const compiled = compileText(messageExpression, environment)
  if (typeof compiled === 'string') {
    return { messageError: `messageExpression compilation failed: ${compiled}` }
  }
  if (compiled.resultType.kind !== celTypes.string.kind) {
    return { messageError: 'messageExpression must evaluate to a string' }
  }
  return { messageProgram: compiled }
}

function compileText(text: string, environment: CelEnvironment): CelProgram | string {
  try {
    return environment.compile(text)
  } catch (error) {
    if (error instanceof CelCompileError) return error.message
    throw error
  }
}
