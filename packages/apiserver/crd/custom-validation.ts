import {
  expressions,
  loadExpressions,
  validateStructural,
  validateStructuralStatusUpdate,
  validateStructuralUpdate,
  type RuleSet,
} from '@skerry/kinds'
import type { AnyObject, Schema, StatusCause, Strategy } from '@skerry/api'

/** Validates by a CRD's schema first, then by its rules, which are compiled when first needed. */
export function customValidation(
  schema: Schema,
): Pick<Strategy, 'load' | 'validate' | 'validateUpdate' | 'validateStatusUpdate'> {
  let compiled: { readonly rules: RuleSet | undefined } | undefined
  const withRules = (
    causes: StatusCause[],
    next: AnyObject,
    old?: AnyObject,
    warn?: (text: string) => void,
  ): StatusCause[] => {
    const { compileRuleSet, evaluateRules } = expressions()
    compiled ??= { rules: compileRuleSet(schema) }
    const { rules } = compiled
    if (!rules) return causes
    if (causes.some(isBlocking)) return [...causes, unchecked]
    return [...causes, ...evaluateRules(rules, next, old, warn)]
  }
  return {
    load: loadExpressions,
    validate: (object) => withRules(validateStructural(schema, object), object),
    validateUpdate: (next, old, warn) =>
      withRules(validateStructuralUpdate(schema, next, old), next, old, warn),
    validateStatusUpdate: (next, old, warn) =>
      withRules(validateStructuralStatusUpdate(schema, next, old), next, old, warn),
  }
}

const blocking: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

/** Rules rely on the schema; without it their errors would only mislead. */
function isBlocking({ reason = '' }: StatusCause): boolean {
  return blocking.has(reason)
}

const unchecked: StatusCause = Object.freeze({
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
})
