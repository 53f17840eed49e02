import { fieldInvalid } from '../field-error.ts'
import { checkLabelValue, checkQualifiedName } from '../names.ts'
import { StatusError, type StatusCause } from '../status-error.ts'
import { scanSelector, type Token } from './selector-tokens.ts'

/** Upstream's operators; `=` and `==` mean the same and differ only in printing. */
export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  /** Sorted, without repeats. */
  readonly values: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

/** A conjunction of requirements, ordered by key. */
export class LabelSelector {
  readonly requirements: readonly LabelRequirement[]
  readonly #matchesNothing: boolean
  /**
   * The values of requirements with many values, as sets, because a list looks them up for each of
   * its objects.
   */
  readonly #manyValues: ReadonlyMap<LabelRequirement, ReadonlySet<string>>

  constructor(requirements: readonly LabelRequirement[], matchesNothing = false) {
    this.requirements = requirements.toSorted((a, b) =>
      a.key < b.key ? -1 : a.key > b.key ? 1 : 0,
    )
    this.#matchesNothing = matchesNothing
    const long = this.requirements.filter(({ values }) => values.length > fewValues)
    this.#manyValues = new Map(long.map((each) => [each, new Set(each.values)]))
  }

  get isEmpty(): boolean {
    return this.requirements.length === 0 && !this.#matchesNothing
  }

  matches(labels: Labels | undefined): boolean {
    if (this.#matchesNothing) return false
    for (const requirement of this.requirements) {
      if (!isMet(requirement, labels, this.#manyValues.get(requirement))) return false
    }
    return true
  }

  /** The canonical text, which parseLabelSelector reads back. */
  toString(): string {
    return this.requirements.map(printRequirement).join(',')
  }
}

/** Up to this many values, comparing one by one is as fast as a lookup. */
const fewValues = 8

export const everyLabelSelector = new LabelSelector([])
export const noLabelSelector = new LabelSelector([], true)

/** Parses the `labelSelector` parameter. Throws StatusError BadRequest with upstream's message. */
export function parseLabelSelector(text: string): LabelSelector {
  // Upstream's scanner treats a zero byte as the end of the text.
  const [shown = ''] = text.split('\0', 1)
  if (shown === '') return everyLabelSelector
  return new LabelSelector(new SelectorParser(shown).parse())
}

/** The fields of metav1.LabelSelector in objects. */
export interface LabelSelectorFields {
  matchLabels?: Labels
  matchExpressions?: readonly {
    key: string
    operator: string
    values?: readonly string[]
  }[]
}

const operatorOfExpression: Readonly<Record<string, LabelOperator>> = Object.freeze({
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
})

/**
 * An omitted selector selects nothing, an empty one everything. Throws StatusError BadRequest if
 * malformed.
 */
export function labelSelectorOf(fields: LabelSelectorFields | null | undefined): LabelSelector {
  if (fields === undefined || fields === null) return noLabelSelector
  const requirements: LabelRequirement[] = []
  for (const [key, value] of Object.entries(fields.matchLabels ?? {})) {
    requirements.push(requirementOf(key, '=', [value]))
  }
  for (const { key, operator, values = [] } of fields.matchExpressions ?? []) {
    const known = operatorOfExpression[operator]
    if (known === undefined) {
      throw badRequest(`"${operator}" is not a valid label selector operator`)
    }
    requirements.push(requirementOf(key, known, values))
  }
  return new LabelSelector(requirements)
}

/** Selects objects that have all these labels; the values are not checked. */
export function labelSelectorOfMap(labels: Labels): LabelSelector {
  return new LabelSelector(
    Object.entries(labels).map(([key, value]) => ({ key, operator: '=', values: [value] })),
  )
}

function isMet(
  requirement: LabelRequirement,
  labels: Labels | undefined,
  many: ReadonlySet<string> | undefined,
): boolean {
  const { key, operator, values } = requirement
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && (many?.has(value) ?? values.includes(value))
    case '!=':
    case 'notin':
      return value === undefined || !(many?.has(value) ?? values.includes(value))
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'gt':
    case 'lt':
      return value !== undefined && isOrdered(operator, value, values[0] ?? '')
  }
}

function isOrdered(operator: 'gt' | 'lt', value: string, bound: string): boolean {
  if (!isInt64(value) || !isInt64(bound)) return false
  return operator === 'gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound)
}

function isInt64(text: string): boolean {
  if (!/^[-+]?[0-9]{1,40}$/.test(text)) return false
  const value = BigInt(text.replace('+', ''))
  return value >= -(2n ** 63n) && value < 2n ** 63n
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`
    case 'gt':
      return `${key}>${values.join(',')}`
    case 'lt':
      return `${key}<${values.join(',')}`
    case '=':
    case '==':
    case '!=':
      return `${key}${operator}${values.join(',')}`
  }
}

/** Throws StatusError BadRequest with all that is wrong. */
function requirementOf(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  const found: StatusCause[] = checkKey(key, 'key')
  const arity = checkArity(operator, values)
  if (arity !== undefined) found.push(fieldInvalid('values', values, arity))
  values.forEach((value, at) => {
    if ((operator === 'gt' || operator === 'lt') && !isInt64(value)) {
      const detail = "for 'Gt', 'Lt' operators, the value must be an integer"
      found.push(fieldInvalid(`values[${at}]`, value, detail))
    }
  })
  values.forEach((value, at) => {
    const texts = checkLabelValue(value)
    if (texts.length > 0) {
      found.push(fieldInvalid(`values[${at}][${key}]`, value, texts.join('; ')))
    }
  })
  if (found.length > 0) throw badRequest(aggregate(found))
  return { key, operator, values: [...new Set(values)].toSorted() }
}

function checkArity(operator: LabelOperator, values: readonly string[]): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length === 0
        ? "for 'in', 'notin' operators, values set can't be empty"
        : undefined
    case 'exists':
    case '!':
      return values.length === 0
        ? undefined
        : 'values set must be empty for exists and does not exist'
    case '=':
    case '==':
    case '!=':
      return values.length === 1 ? undefined : 'exact-match compatibility requires one single value'
    case 'gt':
    case 'lt':
      return values.length === 1
        ? undefined
        : "for 'Gt', 'Lt' operators, exactly one value is required"
  }
}

function checkKey(key: string, field: string): StatusCause[] {
  const texts = checkQualifiedName(key)
  return texts.length === 0 ? [] : [fieldInvalid(field, key, texts.join('; '))]
}

function aggregate(found: readonly StatusCause[]): string {
  const texts = [...new Set(found.map((item) => `${item.field ?? ''}: ${item.message ?? ''}`))]
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}

function badRequest(message: string): StatusError {
  return new StatusError('BadRequest', message)
}

/** Parses by recursive descent over the tokens; `in` and `notin` are operators only where one is expected. */
class SelectorParser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = scanSelector(text)
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    for (;;) {
      const token = this.#peek()
      if (token.type === 'end') return requirements
      if (token.type !== 'word' && token.type !== '!') {
        throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const next = this.#take()
      if (next.type === 'end') return requirements
      if (next.type !== ',') {
        throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`)
      }
      const after = this.#peek()
      if (after.type !== 'word' && after.type !== '!') {
        throw badRequest(`found '${after.text}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#parseRequirement()
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      throw badRequest(`unable to parse requirement: ${error.message}`)
    }
  }

  #parseRequirement(): LabelRequirement {
    let token = this.#take()
    const isNegated = token.type === '!'
    if (isNegated) token = this.#take()
    if (token.type !== 'word') throw badRequest(`found '${token.text}', expected: identifier`)
    const wrong = checkKey(token.text, '<nil>')
    if (wrong.length > 0) throw badRequest(aggregate(wrong))
    const next = this.#peek().type
    if (isNegated) return requirementOf(token.text, '!', [])
    if (next === 'end' || next === ',') return requirementOf(token.text, 'exists', [])
    const operator = this.#operator()
    const isSet = operator === 'in' || operator === 'notin'
    return requirementOf(token.text, operator, isSet ? this.#valueSet() : [this.#exactValue()])
  }

  #operator(): LabelOperator {
    const { type, text } = this.#take()
    const operator = type === 'word' ? text : type
    switch (operator) {
      case '=':
      case '==':
      case '!=':
      case 'in':
      case 'notin':
        return operator
      case '>':
        return 'gt'
      case '<':
        return 'lt'
      default:
        throw badRequest(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
    }
  }

  /** `(a,,b)` has an empty member; `()` is the set of the empty value alone. */
  #valueSet(): string[] {
    const open = this.#take()
    if (open.type !== '(') throw badRequest(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.type === ')') {
      this.#take()
      return ['']
    }
    if (first.type !== 'word' && first.type !== ',') {
      throw badRequest(`found '${first.text}', expected: ',', ')' or identifier`)
    }
    const values = new Set<string>()
    while (!this.#member(values)) continue
    this.#take()
    return [...values].toSorted()
  }

  /** Reads a value or a comma. Returns true if the closing parenthesis is next. */
  #member(values: Set<string>): boolean {
    const token = this.#take()
    const next = this.#peek()
    if (token.type === 'word') {
      values.add(token.text)
      if (next.type === ')') return true
      if (next.type === ',') return false
      throw badRequest(`found '${next.text}', expected: ',' or ')'`)
    }
    if (token.type !== ',') {
      throw badRequest(`found '${token.text}', expected: ',', or identifier`)
    }
    if (values.size === 0 || next.type === ',' || next.type === ')') values.add('')
    return next.type === ')'
  }

  #exactValue(): string {
    const next = this.#peek().type
    if (next === 'end' || next === ',') return ''
    const token = this.#take()
    if (token.type === 'word') return token.text
    throw badRequest(`found '${token.text}', expected: identifier`)
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? endToken
  }

  #take(): Token {
    const token = this.#peek()
    this.#at += 1
    return token
  }
}

const endToken: Token = Object.freeze({ type: 'end', text: '' })
