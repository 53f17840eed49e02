import { unbounded, type CelProgram } from '@skerry/cel'
import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  isJsonObject,
  type JsonObject,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import { schemaFromCrd } from '../schema/crd-schema.ts'
import { compileRules, readRule, rulesOf, type CompiledRule } from './compiled-rule.ts'
import { isFieldPath } from './field-path.ts'
import { hasRules } from './rule-set.ts'
import { boundOf, declareSchema, type DeclaredType, type ObjectTypes } from './schema-types.ts'
import { kindsBounds, requestBytesMax } from '../limits-table.ts'

const ruleCostLimits = kindsBounds.checkRules

/**
 * Checks the rules of a CRD's structural schema, in upstream's words: they must compile, their
 * estimated cost must be limited, and they may use an old value only where there is one.
 */
export function checkRules(openAPIV3Schema: JsonObject, path: string): StatusCause[] {
  const { schemas, schemaName } = schemaFromCrd(openAPIV3Schema)
  const schema = schemas[schemaName]
  if (!schema || !hasRules(schema)) return []
  const types: ObjectTypes = {}
  const declared = declareSchema(schema, types)
  const check = new RuleCheck(types)
  check.visit({ schema, props: openAPIV3Schema, declared, path, count: 1, fixedPath: undefined })
  check.finish(path)
  return check.causes
}

/** Checks the text of the rules at one place, before anything is compiled. */
export function checkRuleTexts(props: Readonly<JsonObject>, path: string): StatusCause[] {
  const rules = props['x-kubernetes-validations']
  if (!Array.isArray(rules)) return []
  return rules
    .filter(isJsonObject)
    .flatMap((rule, at) => checkRuleText(rule, props, `${path}.x-kubernetes-validations[${at}]`))
}

const reasons = Object.freeze([
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
])

function checkRuleText(json: JsonObject, props: Readonly<JsonObject>, path: string): StatusCause[] {
  const { rule, message, messageExpression, reason, fieldPath } = readRule(json)
  const found: StatusCause[] = []
  const hasBreak = (text: string): boolean => /[\n\r]/.test(text)
  const isBlank = (text: string): boolean => text !== '' && text.trim() === ''
  if (rule.trim() === '') found.push(fieldRequired(`${path}.rule`, 'rule is not specified'))
  else if (isBlank(message)) {
    found.push(fieldInvalid(`${path}.message`, message, 'must be non-empty if specified'))
  } else if (hasBreak(message.trim())) {
    found.push(fieldInvalid(`${path}.message`, message, 'must not contain line breaks'))
  } else if (hasBreak(rule.trim()) && message.trim() === '') {
    const detail = 'message must be specified if rule contains line breaks'
    found.push(fieldRequired(`${path}.message`, detail))
  }
  if (isBlank(messageExpression)) {
    const detail = 'messageExpression must be non-empty if specified'
    found.push(fieldRequired(`${path}.messageExpression`, detail))
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    found.push(fieldNotSupported(`${path}.reason`, reason, reasons))
  }
  if (isBlank(fieldPath)) {
    found.push(fieldInvalid(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'))
  }
  if (hasBreak(fieldPath)) {
    found.push(fieldInvalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'))
  }
  if (fieldPath !== '' && !isFieldPath(fieldPath, props)) {
    found.push(fieldInvalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
  }
  return found
}

interface Visit {
  readonly schema: Schema
  readonly props: Readonly<JsonObject>
  readonly declared: DeclaredType | undefined
  readonly path: string
  /** How often such a value can occur in an object; undefined if no limit is declared. */
  readonly count: number | undefined
  /** The path of the list or map whose parts have no old values of their own. */
  readonly fixedPath: string | undefined
}

interface Expensive {
  readonly path: string
  readonly cost: number
}

class RuleCheck {
  readonly causes: StatusCause[] = []
  readonly #types: ObjectTypes
  #total = 0
  #expensive: Expensive[] = []

  constructor(types: ObjectTypes) {
    this.#types = types
  }

  visit(visit: Visit): void {
    const { schema, props, declared, path } = visit
    const count = multiplied(visit.count, elementsOf(schema))
    const isFixed = schema.mapType !== undefined && !['granular', 'atomic'].includes(schema.mapType)
    const { additionalProperties, items, properties } = props
    if (schema.additionalProperties && isJsonObject(additionalProperties)) {
      const below = `${path}.additionalProperties`
      this.#visitBelow(visit, {
        schema: schema.additionalProperties,
        props: additionalProperties,
        path: below,
        declared: declared?.element,
        count,
      })
    }
    for (const [key, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const below = schema.properties?.[key]
      if (!below || !isJsonObject(property)) continue
      const fixedPath = visit.fixedPath ?? (isFixed ? path : undefined)
      this.#visitBelow(
        { ...visit, fixedPath },
        {
          schema: below,
          props: property,
          path: `${path}.properties[${key}]`,
          declared: declared?.properties?.get(key),
          count,
        },
      )
    }
    if (schema.items && isJsonObject(items)) {
      const fixedPath = visit.fixedPath ?? (schema.listType === 'map' ? undefined : path)
      this.#visitBelow(
        { ...visit, fixedPath },
        {
          schema: schema.items,
          props: items,
          path: `${path}.items`,
          declared: declared?.element,
          count,
        },
      )
    }
    this.#checkOwn(visit)
  }

  #visitBelow({ fixedPath }: Visit, below: Omit<Visit, 'fixedPath'>): void {
    if (hasRules(below.schema)) this.visit({ ...below, fixedPath })
  }

  #checkOwn({ schema, declared, path, count, fixedPath }: Visit): void {
    const rules = rulesOf(schema)
    if (rules.length === 0) return
    if (!declared) {
      const where = `${path}.x-kubernetes-validations`
      this.causes.push({
        reason: 'InternalError',
        field: where,
        message:
          'Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
      })
      return
    }
    const times = count ?? Math.trunc(requestBytesMax / (declared.bytesMin + 1))
    for (const [at, rule] of compileRules(rules, declared, this.#types).entries()) {
      const where = `${path}.x-kubernetes-validations[${at}]`
      const value = rules[at] ?? {}
      this.#checkCost(`${where}.rule`, 'estimated rule cost', costOf(rule.program, times))
      if (rule.error !== undefined)
        this.causes.push(fieldInvalid(`${where}.rule`, shown(value), rule.error))
      this.#checkMessage(rule, where, value)
      this.#checkOldSelf(rule, where, fixedPath)
    }
  }

  #checkMessage(
    { messageProgram, messageError }: CompiledRule,
    where: string,
    value: JsonObject,
  ): void {
    const path = `${where}.messageExpression`
    if (messageError !== undefined) this.causes.push(fieldInvalid(path, shown(value), messageError))
    else if (messageProgram) {
      this.#checkCost(path, 'estimated messageExpression cost', costOf(messageProgram, 1))
    }
  }

  #checkOldSelf(rule: CompiledRule, where: string, fixedPath: string | undefined): void {
    if (rule.usesOldSelf) {
      if (fixedPath === undefined) return
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${fixedPath}`
      this.causes.push(fieldInvalid(`${where}.rule`, rule.rule, detail))
    } else if (rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule'
      this.causes.push(fieldInvalid(`${where}.optionalOldSelf`, rule.optionalOldSelf, detail))
    }
  }

  #checkCost(path: string, name: string, cost: number): void {
    if (cost > ruleCostLimits.ruleMax) {
      this.causes.push(fieldForbidden(path, excess(name, cost, ruleCostLimits.ruleMax)))
    }
    this.#total = Math.min(this.#total + cost, unbounded)
    if (cost < ruleCostLimits.definitionMax / 100) return
    this.#expensive = [...this.#expensive, { path, cost }]
      .toSorted((a, b) => b.cost - a.cost)
      .slice(0, 4)
  }

  /** Checks the sum of all rules of a version. */
  finish(path: string): void {
    if (this.#total <= ruleCostLimits.definitionMax) return
    for (const expensive of this.#expensive) {
      const detail =
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
      this.causes.push(fieldForbidden(expensive.path, detail))
    }
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    this.causes.push(fieldForbidden(path, excess(name, this.#total, ruleCostLimits.definitionMax)))
  }
}

/** Returns the rule as upstream prints it: a Go struct in JSON. */
function shown(rule: JsonObject): JsonObject {
  const {
    rule: text,
    message,
    messageExpression,
    reason,
    fieldPath,
    optionalOldSelf,
  } = readRule(rule)
  return {
    Rule: text,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  }
}

function costOf(program: CelProgram | undefined, times: number): number {
  return program ? Math.min(program.estimateCost().max * times, unbounded) : 0
}

function excess(name: string, cost: number, limit: number): string {
  const factor = cost / limit
  const shownFactor =
    factor > 100
      ? 'more than 100x'
      : factor < 1.5
        ? `${factor.toFixed(6)}x`
        : `${factor.toFixed(1)}x`
  return `${name} exceeds budget by factor of ${shownFactor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

/** Returns how many values of the schema's parts there can be in one of its values. */
function elementsOf(schema: Schema): number | undefined {
  if (schema.type === 'object' && schema.additionalProperties)
    return boundOf(schema, 'maxProperties')
  return schema.type === 'array' ? boundOf(schema, 'maxItems') : 1
}

function multiplied(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.min(a * b, unbounded)
}
