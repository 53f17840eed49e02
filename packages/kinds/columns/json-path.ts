/**
 * A JSONPath for the columns of CRDs (kubectl's dialect without range): fields with escapes,
 * indexes, slices, wildcards, recursion, unions and filters.
 */
export type JsonPath = readonly JsonPathStep[]

export type JsonPathStep =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'recursive' }
  | { readonly type: 'slice'; readonly from?: number; readonly to?: number; readonly step: number }
  | { readonly type: 'union'; readonly paths: readonly JsonPath[] }
  | { readonly type: 'literal'; readonly value: string | number | boolean }
  | { readonly type: 'filter'; readonly left: JsonPath; readonly compare?: Comparison }

interface Comparison {
  readonly operator: string
  readonly right: JsonPath
}

type Scalar = string | number | boolean

const operators: Readonly<Record<string, (a: Scalar, b: Scalar) => boolean>> = Object.freeze({
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
})

/** Throws RangeError for an unreadable path. */
export function parseJsonPath(text: string): JsonPath {
  return new JsonPathParser(text).parse()
}

/**
 * Returns everything that the path finds. A missing field finds nothing. Throws RangeError if a
 * value does not have the type that the path requires.
 */
export function evaluateJsonPath(path: JsonPath, root: unknown): unknown[] {
  return path.reduce<unknown[]>((values, step) => evaluateStep(step, values), [root])
}

function evaluateStep(step: JsonPathStep, values: readonly unknown[]): unknown[] {
  switch (step.type) {
    case 'field':
      return values.flatMap((value) => (hasMember(value, step.name) ? [value[step.name]] : []))
    case 'wildcard':
      return values.flatMap(childrenOf)
    case 'recursive':
      return values.flatMap(selfAndDescendants)
    case 'slice':
      return values.flatMap((value) => sliceOf(value, step))
    case 'union':
      return step.paths.flatMap((path) =>
        path.reduce<unknown[]>((found, one) => evaluateStep(one, found), [...values]),
      )
    case 'literal':
      return values.map(() => step.value)
    case 'filter':
      return values.flatMap((value) => arrayOf(value).filter((item) => passes(step, item)))
  }
}

function hasMember(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
}

function childrenOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}

function selfAndDescendants(value: unknown): unknown[] {
  const children = childrenOf(value)
  return children.length === 0 ? [] : [value, ...children.flatMap(selfAndDescendants)]
}

function arrayOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new RangeError('Cannot read JSON path: value is not an array')
  return value
}

function sliceOf(value: unknown, range: { from?: number; to?: number; step: number }): unknown[] {
  if (value === null || value === undefined) return []
  const items = arrayOf(value)
  const absolute = (index: number) => (index < 0 ? index + items.length : index)
  const from = absolute(range.from ?? 0)
  const to = absolute(range.to ?? items.length)
  if (from === to) return []
  if (from < 0 || from >= items.length || to < 0 || to > items.length || from > to) {
    throw new RangeError(`Cannot read JSON path: no items ${from} to ${to} of ${items.length}`)
  }
  return items.slice(from, to).filter((_, index) => index % range.step === 0)
}

function passes(filter: { left: JsonPath; compare?: Comparison }, item: unknown): boolean {
  const lefts = evaluateJsonPath(filter.left, item)
  if (!filter.compare) return lefts.length > 0
  const rights = evaluateJsonPath(filter.compare.right, item)
  if (lefts.length === 0 || rights.length === 0) return false
  if (lefts.length > 1 || rights.length > 1) {
    throw new RangeError('Cannot read JSON path: filter compares more than one value')
  }
  const [left, right] = [lefts[0], rights[0]]
  if (!isScalar(left) || !isScalar(right) || typeof left !== typeof right) {
    throw new RangeError('Cannot read JSON path: filter compares values of different types')
  }
  return operators[filter.compare.operator]?.(left, right) ?? false
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

class JsonPathParser {
  readonly #text: string
  #position = 0

  constructor(text: string) {
    this.#text = text.trim()
  }

  parse(): JsonPath {
    const steps: JsonPathStep[] = []
    while (this.#position < this.#text.length) {
      const step = this.#parseStep(steps.length === 0)
      if (step) steps.push(step)
    }
    return steps
  }

  #parseStep(isFirst: boolean): JsonPathStep | undefined {
    const character = this.#text.charAt(this.#position)
    switch (character) {
      case '$':
      case '@':
        this.#position += 1
        return undefined
      case '.':
        return this.#parseDot()
      case '[':
        return this.#parseBracket()
      case '"':
      case "'":
        return { type: 'literal', value: this.#parseQuoted(character) }
      default:
        return this.#parseWord(isFirst)
    }
  }

  #parseDot(): JsonPathStep | undefined {
    this.#position += 1
    const next = this.#text.charAt(this.#position)
    // A second dot is left, and starts the field after the recursion.
    if (next === '.') return { type: 'recursive' }
    if (next === '' || next === '[') return undefined
    const name = this.#takeField()
    return name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') }
  }

  /** Reads a name up to the next unescaped character that ends it. */
  #takeField(): string {
    const [name = ''] = /^(?:\\.|[^\s.,[\]$@{}\\])*/.exec(this.#text.slice(this.#position)) ?? []
    if (name === '') throw this.#unreadable()
    this.#position += name.length
    return name
  }

  #parseBracket(): JsonPathStep {
    const inner = this.#takeBracket()
    const filter = /^\?\((.*)\)$/s.exec(inner)
    if (filter) return parseFilter(filter[1] ?? '')
    const parts = splitOutsideQuotes(inner, ',')
    if (parts.length > 1) {
      return { type: 'union', paths: parts.map((part) => parseJsonPath(`[${part.trim()}]`)) }
    }
    if (inner === '*') return { type: 'slice', step: 1 }
    const key = /^'([^']*)'$/.exec(inner)
    if (key) return { type: 'union', paths: [parseJsonPath(`.${key[1]}`)] }
    return this.#parseSlice(inner)
  }

  #parseSlice(inner: string): JsonPathStep {
    const match = /^(-?\d+)?(?:(:)(-?\d+)?)?(?::(\d+)?)?$/.exec(inner)
    if (!match || inner === '') throw this.#unreadable()
    const [, first, colon, last, every] = match
    const step = Number(every ?? 1)
    if (step < 1) throw this.#unreadable()
    const from = first === undefined ? undefined : Number(first)
    // [-1] is the last item: its end is that of the array, not item 0.
    const single = from === undefined || from === -1 ? undefined : from + 1
    const to = colon === undefined ? single : last === undefined ? undefined : Number(last)
    return {
      type: 'slice',
      step,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    }
  }

  /** Reads the text between this bracket and the one that closes it. */
  #takeBracket(): string {
    const start = this.#position + 1
    let depth = 0
    let quote = ''
    for (let index = this.#position; index < this.#text.length; index += 1) {
      const character = this.#text.charAt(index)
      if (quote !== '') {
        if (character === quote && this.#text.charAt(index - 1) !== '\\') quote = ''
      } else if (character === '"' || character === "'") quote = character
      else if (character === '[') depth += 1
      else if (character === ']' && --depth === 0) {
        this.#position = index + 1
        return this.#text.slice(start, index).trim()
      }
    }
    throw this.#unreadable()
  }

  #parseQuoted(quote: string): string {
    const pattern = quote === '"' ? /^"((?:\\.|[^"\\])*)"/s : /^'((?:\\.|[^'\\])*)'/s
    const match = pattern.exec(this.#text.slice(this.#position))
    if (!match) throw this.#unreadable()
    this.#position += match[0].length
    return (match[1] ?? '').replaceAll(/\\(.)/gs, '$1')
  }

  /** Parses a number or boolean to compare with, or a field that lacks its dot, which kubectl allows. */
  #parseWord(isFirst: boolean): JsonPathStep {
    const word = /^[+-]?\d+(?:\.\d+)?$/.exec(this.#text.slice(this.#position))?.[0]
    if (word !== undefined) {
      this.#position += word.length
      return { type: 'literal', value: Number(word) }
    }
    if (!isFirst) throw this.#unreadable()
    const name = this.#takeField()
    if (name === 'true' || name === 'false') return { type: 'literal', value: name === 'true' }
    return { type: 'field', name: name.replaceAll('\\', '') }
  }

  #unreadable(): RangeError {
    return new RangeError(
      `Cannot read JSON path: ${JSON.stringify(this.#text)} at ${this.#position}`,
    )
  }
}

function parseFilter(text: string): JsonPathStep {
  const match = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text)
  if (!match) return { type: 'filter', left: parseJsonPath(text) }
  const [, left = '', operator = '', right = ''] = match
  if (!Object.hasOwn(operators, operator)) {
    throw new RangeError(`Cannot read JSON path: operator ${operator} is not known`)
  }
  return {
    type: 'filter',
    left: parseJsonPath(left),
    compare: { operator, right: parseJsonPath(right) },
  }
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts = ['']
  let quote = ''
  for (const character of text) {
    if (quote === '' && character === separator) parts.push('')
    else {
      if (quote === character) quote = ''
      else if (quote === '' && (character === '"' || character === "'")) quote = character
      parts[parts.length - 1] += character
    }
  }
  return parts
}
