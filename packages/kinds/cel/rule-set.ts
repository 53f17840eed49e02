import {
  CelCostError,
  CelOptional,
  CelRuntimeError,
  valueOfJson,
  type Bindings,
  type CelProgram,
  type ObjectType,
} from '@skerry/cel'
import {
  equalJson,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  invalidOmitted,
  isJsonObject,
  memberOf,
  type JsonObject,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import { compileRules, rulesOf, type CompiledRule } from './compiled-rule.ts'
import { declareSchema, type DeclaredType, type ObjectTypes } from './schema-types.ts'
import { kindsBounds } from '../limits-table.ts'

const ruleLimits = kindsBounds.ruleSet

/** The rules of a schema in their places. Places without rules below them are left out. */
export interface RuleNode {
  readonly schema: Schema
  readonly declared: DeclaredType
  readonly rules: readonly CompiledRule[]
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly items?: RuleNode | undefined
  readonly values?: RuleNode | undefined
}

export interface RuleSet {
  readonly root: RuleNode
  readonly types: ReadonlyMap<string, ObjectType>
}

/** Returns undefined if the schema has no rules. Invalid rules are kept, and fail when they are evaluated. */
export function compileRuleSet(schema: Schema): RuleSet | undefined {
  if (!hasRules(schema)) return undefined
  const types: ObjectTypes = {}
  const declared = declareSchema(schema, types)
  const root = declared && nodeOf(schema, declared, types)
  return root && { root, types: new Map(Object.entries(types)) }
}

export function hasRules(schema: Schema): boolean {
  if (rulesOf(schema).length > 0) return true
  const below = [
    ...Object.values(schema.properties ?? {}),
    schema.items,
    schema.additionalProperties,
  ]
  return below.some((child) => child !== undefined && hasRules(child))
}

function nodeOf(schema: Schema, declared: DeclaredType, types: ObjectTypes): RuleNode | undefined {
  const properties = new Map<string, RuleNode>()
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const type = declared.properties?.get(key)
    const node = type && nodeOf(property, type, types)
    if (node) properties.set(key, node)
  }
  const { element } = declared
  const items = schema.items && element ? nodeOf(schema.items, element, types) : undefined
  const values =
    schema.additionalProperties && element
      ? nodeOf(schema.additionalProperties, element, types)
      : undefined
  const own = rulesOf(schema)
  if (own.length === 0 && properties.size === 0 && !items && !values) return undefined
  return { schema, declared, rules: compileRules(own, declared, types), properties, items, values }
}

interface Place {
  readonly value: unknown
  readonly path: string
  /** The corresponding value before the update; undefined if there is none. */
  readonly old: unknown
  /** True if the value, or its container, did not change; failing rules are then ignored. */
  readonly isUnchanged: boolean
}

/**
 * Evaluates the rules, in upstream's words. `old` is the object before an update. Calls `warn` with
 * rules that fail for values that were already wrong; these failures are ignored.
 */
export function evaluateRules(
  rules: RuleSet,
  value: unknown,
  old?: unknown,
  warn: (text: string) => void = () => undefined,
): StatusCause[] {
  const run = new Run(rules, warn)
  run.visit(rules.root, { value, old, path: '', isUnchanged: isSame(value, old) })
  return run.causes
}

function isSame(value: unknown, old: unknown): boolean {
  return old !== undefined && equalJson(value, old)
}

class Run {
  readonly causes: StatusCause[] = []
  readonly #types: ReadonlyMap<string, ObjectType>
  readonly #warn: (text: string) => void
  #budget: number = ruleLimits.objectCostMax

  constructor({ types }: RuleSet, warn: (text: string) => void) {
    this.#types = types
    this.#warn = warn
  }

  get #isOver(): boolean {
    return this.#budget < 0
  }

  visit(node: RuleNode, place: Place): void {
    const { value } = place
    if (this.#isOver || value === null || value === undefined) return
    if (node.rules.length > 0) this.#evaluateAll(node, place)
    if (this.#isOver) return
    if (Array.isArray(value)) this.#visitItems(node, { ...place, value })
    else if (isJsonObject(value)) this.#visitMembers(node, { ...place, value })
  }

  #visitItems({ items, schema }: RuleNode, place: Place & { value: readonly unknown[] }): void {
    if (!items) return
    const { path, isUnchanged } = place
    const olds =
      schema.listType === 'map' ? itemsByKeys(place.old, schema.listMapKeys ?? []) : undefined
    place.value.forEach((value, at) => {
      const old = olds?.get(identityOf(value, schema.listMapKeys ?? []))
      const isOwnUnchanged = old === undefined ? isUnchanged : isSame(value, old)
      this.visit(items, { value, old, path: `${path}[${at}]`, isUnchanged: isOwnUnchanged })
    })
  }

  #visitMembers(node: RuleNode, place: Place & { value: JsonObject }): void {
    const old = isJsonObject(place.old) ? place.old : {}
    for (const [key, value] of Object.entries(place.value)) {
      const before = memberOf(old, key)
      const isUnchanged = before === undefined ? place.isUnchanged : isSame(value, before)
      const { path } = place
      const below = node.properties.get(key)
      if (node.values)
        this.visit(node.values, { value, old: before, path: `${path}[${key}]`, isUnchanged })
      else if (below) {
        this.visit(below, { value, old: before, path: child(path, key), isUnchanged })
      }
    }
  }

  #evaluateAll(node: RuleNode, place: Place): void {
    for (const rule of node.rules) {
      if (this.#isOver) return
      if (this.#budget === 0) {
        this.#giveUp(node, place, outOfBudget)
        return
      }
      if (rule.error !== undefined) this.#report(node, place, `rule compile error: ${rule.error}`)
      else if (rule.program) this.#evaluate(rule, rule.program, { node, place })
    }
  }

  #evaluate(
    rule: CompiledRule,
    program: CelProgram,
    { node, place }: { node: RuleNode; place: Place },
  ): void {
    const hasOld = place.old !== undefined && place.old !== null
    if (rule.usesOldSelf && !hasOld && rule.optionalOldSelf !== true) return
    const bindings = this.#bindings(rule, node, place)
    try {
      const { value, cost } = program.evaluate(bindings, { costLimit: ruleLimits.callCostMax })
      if (!this.#pay(cost)) this.#giveUp(node, place, outOfBudget)
      else if (value !== true) this.#fail(rule, bindings, { node, place })
    } catch (error) {
      const name = ruleText(rule)
      if (error instanceof CelCostError) {
        this.#giveUp(
          node,
          place,
          `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`,
        )
      } else if (error instanceof CelRuntimeError) {
        if (!this.#pay(error.cost)) this.#giveUp(node, place, outOfBudget)
        else this.#report(node, place, runtimeText(error, name))
      } else throw error
    }
  }

  #bindings(rule: CompiledRule, { declared: { type } }: RuleNode, { value, old }: Place): Bindings {
    if (rule.optionalOldSelf !== true) return { self: value, oldSelf: old }
    const before =
      old === undefined || old === null ? undefined : valueOfJson(old, type, this.#types)
    return { self: value, oldSelf: new CelOptional(before) }
  }

  #pay(cost: number): boolean {
    this.#budget -= cost
    return this.#budget >= 0
  }

  #giveUp(node: RuleNode, place: Place, detail: string): void {
    this.#report(node, place, detail)
    this.#budget = -1
  }

  #report({ schema }: RuleNode, { path }: Place, detail: string): void {
    this.causes.push(fieldInvalid(shownPath(path), schema.type ?? '', detail))
  }

  #fail(
    rule: CompiledRule,
    bindings: Bindings,
    { node, place }: { node: RuleNode; place: Place },
  ): void {
    const path =
      rule.fieldPath === '' ? place.path : `${place.path}${normalPath(rule.fieldPath, place.path)}`
    const message = rule.messageProgram ? this.#message(rule.messageProgram, bindings) : undefined
    if (message?.error !== undefined) {
      this.#giveUp(node, { ...place, path }, message.error)
      return
    }
    const detail =
      message?.text ??
      (rule.message === '' ? `failed rule: ${ruleText(rule)}` : rule.message.trim())
    const cause = causeOf(rule, { node, path, value: place.value, detail })
    // A value that was wrong before a rule was added must not prevent other changes, as upstream.
    if (!rule.usesOldSelf && place.isUnchanged) this.#warn(`${cause.field}: ${cause.message}`)
    else this.causes.push(cause)
  }

  /** Returns the text, or an error that ends the evaluation, or neither, for the plain message. */
  #message(program: CelProgram, bindings: Bindings): { text?: string; error?: string } {
    try {
      const { value, cost } = program.evaluate(bindings, { costLimit: ruleLimits.callCostMax })
      if (!this.#pay(cost)) {
        return {
          error: `messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run`,
        }
      }
      const text = typeof value === 'string' ? value.trim() : ''
      const isUsable =
        text !== '' &&
        !text.includes('\n') &&
        new TextEncoder().encode(text).length <= ruleLimits.messageBytesMax
      return isUsable ? { text } : {}
    } catch (error) {
      if (error instanceof CelCostError) {
        return {
          error: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(program.text)}`,
        }
      }
      if (!(error instanceof CelRuntimeError)) throw error
      this.#pay(error.cost)
      return {}
    }
  }
}

const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run'

function runtimeText({ message, reason }: CelRuntimeError, rule: string): string {
  if (reason !== 'no such overload') return `${message} evaluating rule: ${rule}`
  return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
}

function ruleText({ rule, message }: CompiledRule): string {
  return message === '' ? rule.trim() : message.trim()
}

function causeOf(
  { reason }: CompiledRule,
  { node, path, value, detail }: { node: RuleNode; path: string; value: unknown; detail: string },
): StatusCause {
  const field = shownPath(path)
  const { type } = node.schema
  const isWhole = type === 'object' || type === 'array'
  switch (reason) {
    case 'FieldValueForbidden':
      return fieldForbidden(field, detail)
    case 'FieldValueRequired':
      return fieldRequired(field, detail)
    case 'FieldValueDuplicate':
      return isWhole ? { reason, field, message: 'Duplicate value' } : fieldDuplicate(field, value)
    default:
      return isWhole ? invalidOmitted(field, detail) : fieldInvalid(field, value, detail)
  }
}

/** Returns upstream's text for the object itself. */
function shownPath(path: string): string {
  return path === '' ? '<nil>' : path
}

function child(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/** Returns `.spec['a.b']` in the form that continues the path. */
function normalPath(fieldPath: string, path: string): string {
  const normal = fieldPath.replaceAll(
    /\['((?:[^'\\]|\\.)*)'\]/g,
    (_, key: string) => `.${key.replaceAll(/\\(.)/g, '$1')}`,
  )
  return path === '' ? normal.replace(/^\./, '') : normal
}

function itemsByKeys(old: unknown, keys: readonly string[]): Map<string, unknown> {
  const items = Array.isArray(old) ? old : []
  return new Map(items.map((item: unknown) => [identityOf(item, keys), item]))
}

function identityOf(item: unknown, keys: readonly string[]): string {
  return JSON.stringify(
    keys.map((key) => (isJsonObject(item) ? memberOf(item, key) : undefined) ?? null),
  )
}
