import { messageOf } from '@skerry/base'
import { applyJsonPatch, FailedTestError } from '@skerry/bodies'
import {
  compileExpression,
  compileVariables,
  expressionResults,
  objectRoot,
  type Compiled,
  type NamedExpression,
} from '@skerry/kinds'
import { isJsonObject, type AnyObject, type Kind, type MutatingAdmissionPolicy } from '@skerry/api'
import { CelRuntimeError, jsonOfValue, type CelValue } from '@skerry/cel'
import { Activation, type ActivationInput } from '../admission-matching/activation.ts'
import { applyConfiguration } from './apply-configuration.ts'
import { misplacedTypes } from './misplaced-types.ts'
import { compileConditions } from './validator.ts'
import { policyLimits } from '../limits-table.ts'

/** A mutating policy with its compiled expressions; those that failed to compile carry the reason. */
export interface Mutator {
  readonly isFailureIgnored: boolean
  readonly variables: readonly NamedExpression[]
  readonly conditions: readonly NamedExpression[]
  readonly mutations: readonly Mutation[]
}

export interface Mutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
  readonly compiled: Compiled
}

export function compileMutator({ spec = {} }: MutatingAdmissionPolicy): Mutator {
  const hasParams = spec.paramKind !== undefined
  const { variables, declared } = compileVariables(spec.variables ?? [], {
    hasParams,
    hasAuthorizer: true,
  })
  const making = { ...declared, hasPatchTypes: true }
  return {
    isFailureIgnored: spec.failurePolicy === 'Ignore',
    variables,
    conditions: compileConditions(spec.matchConditions ?? [], declared),
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration: apply, jsonPatch }) => {
      const isPatch = patchType === 'JSONPatch'
      const text = (isPatch ? jsonPatch : apply)?.expression ?? ''
      const sort = isPatch ? 'jsonPatch' : 'applyConfiguration'
      const compiled = compileExpression(making, text, expressionResults[sort])
      return { patchType: isPatch ? 'JSONPatch' : 'ApplyConfiguration', compiled }
    }),
  }
}

/** Returns the object after one mutation. Throws MutationError, BudgetError or PendingCheck. */
export function mutate(
  { patchType, compiled }: Mutation,
  object: AnyObject,
  input: ActivationInput,
  kind: Kind,
): AnyObject {
  if ('error' in compiled) throw new MutationError(compiled.error)
  const evaluated = new Activation(input, policyLimits.bindingCostMax).evaluate(compiled)
  if (evaluated.type === 'error') throw new MutationError(evaluated.message)
  try {
    return patchType === 'JSONPatch'
      ? patched(object, evaluated.value)
      : configured(object, evaluated.value, kind)
  } catch (error) {
    if (error instanceof MutationError) throw error
    throw new MutationError(messageOf(error), {
      cause: error,
    })
  }
}

/** Reports that the mutation cannot be made; the failure policy decides about the request. */
export class MutationError extends Error {
  override name = 'MutationError'
}

function configured(object: AnyObject, value: CelValue, kind: Kind): AnyObject {
  const misplaced = misplacedTypes(value, objectRoot)
  if (misplaced.length > 0) throw new MutationError(`type mismatch: ${misplaced.join('\n')}`)
  const configuration = jsonOfValue(value)
  if (!isJsonObject(configuration)) throw new MutationError('invalid return type: no object')
  return applyConfiguration(object, configuration, kind)
}

function patched(object: AnyObject, value: CelValue): AnyObject {
  const operations = operationsOf(value)
  if (!testsPass(object, operations)) return object
  let result: unknown
  try {
    result = applyJsonPatch(object, operations)
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new MutationError(`JSON Patch: ${messageOf(cause)}`, { cause: error })
  }
  if (isJsonObject(result) && isJsonObject(result['metadata'])) {
    const { apiVersion, kind, metadata } = object
    return { ...result, apiVersion, kind, metadata: { ...metadata, ...result['metadata'] } }
  }
  throw new MutationError('JSON Patch: the result is not an object')
}

/** A failing test means that nothing is to be done, not that there is an error. */
function testsPass(object: AnyObject, operations: readonly object[]): boolean {
  const lastTest = operations.findLastIndex(
    (operation) => 'op' in operation && operation.op === 'test',
  )
  if (lastTest < 0) return true
  try {
    applyJsonPatch(object, operations.slice(0, lastTest + 1))
    return true
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    return !(cause instanceof FailedTestError)
  }
}

function operationsOf(value: CelValue): object[] {
  if (
    value === null ||
    typeof value !== 'object' ||
    !('celKind' in value) ||
    value.celKind !== 'list'
  ) {
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array')
  }
  return Array.from({ length: value.size }, (_item, index) => operationOf(value.at(index)))
}

function operationOf(item: CelValue): object {
  if (
    item === null ||
    typeof item !== 'object' ||
    !('celKind' in item) ||
    item.celKind !== 'object'
  ) {
    throw new CelRuntimeError(
      'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch',
    )
  }
  const made = item.get('value')
  const root = made && typeof made === 'object' && 'typeName' in made ? made.typeName : ''
  const misplaced = made === undefined || root === '' ? [] : misplacedTypes(made, root)
  if (misplaced.length > 0) throw new MutationError(`type mismatch: ${misplaced.join('\n')}`)
  const from = item.get('from') ?? ''
  return {
    op: item.get('op') ?? '',
    path: item.get('path') ?? '',
    ...(from === '' ? {} : { from }),
    ...(made === undefined ? {} : { value: jsonOfValue(made) }),
  }
}
