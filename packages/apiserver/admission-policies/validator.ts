import {
  compileExpression,
  compileVariables,
  expressionResults,
  type Compiled,
  type Declarations,
  type NamedExpression,
} from '@skerry/kinds'
import type { StatusReason, ValidatingAdmissionPolicy } from '@skerry/api'
import {
  Activation,
  BudgetError,
  type ActivationInput,
  type Evaluated,
} from '../admission-matching/activation.ts'
import { matchConditions } from '../admission-matching/match-conditions.ts'
import { policyLimits } from '../limits-table.ts'

/** A policy with its compiled expressions; those that failed to compile carry the reason. */
export interface Validator {
  readonly isFailureIgnored: boolean
  readonly variables: readonly NamedExpression[]
  readonly conditions: readonly NamedExpression[]
  readonly validations: readonly {
    readonly compiled: Compiled
    readonly message: string
    readonly messageExpression: Compiled | undefined
    readonly reason: StatusReason
  }[]
  readonly auditAnnotations: readonly { readonly key: string; readonly compiled: Compiled }[]
}

/** One policy's objection to a request. */
export interface Objection {
  /** The index of the validation, for audit annotations. */
  readonly index: number
  readonly message: string
  readonly reason: StatusReason | undefined
}

export interface Judgement {
  readonly objections: readonly Objection[]
  readonly annotations: readonly AuditResult[]
}

export type AuditResult =
  | { readonly type: 'publish'; readonly key: string; readonly value: string }
  | { readonly type: 'error'; readonly message: string }

export function compileConditions(
  conditions: readonly { readonly name: string; readonly expression: string }[],
  declared: Declarations,
): NamedExpression[] {
  return conditions.map(({ name, expression }) => ({
    name,
    compiled: compileExpression(declared, expression, expressionResults.condition),
  }))
}

export function compileValidator({ spec = {} }: ValidatingAdmissionPolicy): Validator {
  const hasParams = spec.paramKind !== undefined
  const { variables, declared } = compileVariables(spec.variables ?? [], {
    hasParams,
    hasAuthorizer: true,
  })
  const silent = { ...declared, hasAuthorizer: false }
  return {
    isFailureIgnored: spec.failurePolicy === 'Ignore',
    variables,
    conditions: compileConditions(spec.matchConditions ?? [], declared),
    validations: (spec.validations ?? []).map((validation) => ({
      compiled: compileExpression(declared, validation.expression, expressionResults.condition),
      message: validation.message ?? '',
      messageExpression: validation.messageExpression
        ? compileExpression(silent, validation.messageExpression, expressionResults.message)
        : undefined,
      // The schema allows only four reasons, all of them valid.
      reason: (validation.reason ?? 'Invalid') as StatusReason,
    })),
    auditAnnotations: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      compiled: compileExpression(declared, valueExpression, expressionResults.auditAnnotation),
    })),
  }
}

/** A pure function except for checks: they may throw PendingCheck, after which it is called again. */
export function judge(validator: Validator, input: ActivationInput): Judgement {
  const { isFailureIgnored, conditions, variables } = validator
  const own = { ...input, variables }
  if (conditions.length > 0) {
    const match = matchConditions(conditions, own, isFailureIgnored)
    if (match.type === 'no-match') return { objections: [], annotations: [] }
    if (match.type === 'refused') return failure(match.message, isFailureIgnored)
  }
  try {
    const objections = judgeValidations(validator, own)
    return { objections, annotations: auditAnnotations(validator, own) }
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error
    return failure(error.message, isFailureIgnored)
  }
}

function failure(message: string, isIgnored: boolean): Judgement {
  const objections = isIgnored ? [] : [{ index: 0, message, reason: undefined }]
  return { objections, annotations: [] }
}

function judgeValidations(
  { validations, isFailureIgnored }: Validator,
  input: ActivationInput,
): Objection[] {
  const activation = new Activation(input, policyLimits.bindingCostMax)
  const results = validations.map(({ compiled }) => activation.evaluate(compiled))
  const messages = evaluateMessages(validations, input, activation.remaining)
  const objections: Objection[] = []
  for (const [index, result] of results.entries()) {
    const validation = validations[index]
    if (!validation) continue
    const broken = result.type === 'error' ? result.message : messages.failure
    if (broken !== '') {
      if (!isFailureIgnored) objections.push({ index, message: broken, reason: undefined })
    } else if (result.type === 'value' && result.value !== true) {
      const message = messageOf(validation, messages.results[index])
      objections.push({ index, message, reason: validation.reason })
    }
  }
  return objections
}

type Validations = Validator['validations']

/** All messages, needed or not, share the budget that the validations leave. */
function evaluateMessages(
  validations: Validations,
  input: ActivationInput,
  budget: number,
): { results: readonly (Evaluated | undefined)[]; failure: string } {
  if (!validations.some(({ messageExpression }) => messageExpression)) {
    return { results: [], failure: '' }
  }
  const { session: _session, ...withoutSession } = input
  const activation = new Activation(withoutSession, budget)
  try {
    const results = validations.map(
      ({ messageExpression }) => messageExpression && activation.evaluate(messageExpression),
    )
    return { results, failure: '' }
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error
    return { results: [], failure: `failed messageExpression: ${error.message}` }
  }
}

function messageOf(validation: Validations[number], evaluated: Evaluated | undefined): string {
  const value = evaluated?.type === 'value' ? evaluated.value : undefined
  const made = typeof value === 'string' ? value.trim() : ''
  const isFit = Buffer.byteLength(made) <= policyLimits.messageBytesMax && !made.includes('\n')
  if (made !== '' && isFit) return made
  const text = validation.message.trim()
  return text === '' ? `failed expression: ${validation.compiled.text.trim()}` : text
}

function auditAnnotations(validator: Validator, input: ActivationInput): AuditResult[] {
  const { auditAnnotations: annotations, isFailureIgnored } = validator
  if (annotations.length === 0) return []
  const { session: _session, ...withoutSession } = input
  const activation = new Activation(withoutSession, policyLimits.bindingCostMax)
  const found: AuditResult[] = []
  for (const { key, compiled } of annotations) {
    const result = activation.evaluate(compiled)
    if (result.type === 'error') {
      if (!isFailureIgnored) found.push({ type: 'error', message: result.message })
    } else if (typeof result.value === 'string' && result.value.trim() !== '') {
      found.push({ type: 'publish', key, value: result.value.trim() })
    }
  }
  return found
}
