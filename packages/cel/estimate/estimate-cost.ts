import { celTypes, type CelType, type ObjectType } from '../language/cel-type.ts'
import type { CelValue } from '../language/cel-value.ts'
import type { Checked } from '../check/checker.ts'
import type { CallEstimate, Overload, Range, SizeEstimate } from '../check/library.ts'
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr } from '../syntax/expr.ts'
import { accumulator } from '../syntax/macros.ts'
import { unwrapOptional } from '../check/unify.ts'
import { lengthOf } from '../values/kinds.ts'
import { fixedRange, product, sum, unbounded, union, unknownSize } from './range.ts'

export interface EstimateOptions {
  readonly checked: Checked
  readonly variables: ReadonlyMap<string, CelType>
  readonly types: ReadonlyMap<string, ObjectType>
  /** Returns the size of the value at a path if the types do not define it. */
  readonly sizes?: ((path: readonly string[]) => Range | undefined) | undefined
}

/** Returns the least and the largest cost of an evaluation, as cel-go's checker estimates it. */
export function estimateCost(options: EstimateOptions): Range {
  return new Estimator(options).cost(options.checked.expr)
}

interface Entries {
  readonly container: 'list' | 'map'
  readonly key: Range
  readonly value: Range
}

interface LocalSize {
  readonly name: string
  readonly path: Path
  readonly size: Range | undefined
  readonly entries: Entries | undefined
}

type Path = readonly string[] | undefined

const selecting = fixedRange(1)
const listCost = fixedRange(10)
const mapCost = fixedRange(30)
const objectCost = fixedRange(40)

class Estimator {
  readonly #options: EstimateOptions
  readonly #paths = new Map<Expr, Path>()
  readonly #sizes = new Map<Expr, Range>()
  readonly #entries = new Map<Expr, Entries>()
  readonly #locals: LocalSize[] = []

  constructor(options: EstimateOptions) {
    this.#options = options
  }

  cost(expr: Expr): Range {
    const name = this.#options.checked.names.get(expr)
    if (name?.kind === 'variable') {
      this.#paths.set(expr, [name.name])
      return selecting
    }
    switch (expr.kind) {
      case 'literal':
        return fixedRange(0)
      case 'ident':
        this.#paths.set(expr, name?.kind === 'constant' ? [expr.name] : this.#local(expr)?.path)
        return selecting
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return sum(...expr.fields.map(({ value }) => this.cost(value)), objectCost)
      case 'comprehension':
        return isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr)
    }
  }

  #typeOf(expr: Expr): CelType {
    return this.#options.checked.types.get(expr) ?? celTypes.dyn
  }

  #local(expr: Expr): LocalSize | undefined {
    if (expr.kind !== 'ident') return undefined
    return this.#locals.findLast(({ name }) => name === expr.name)
  }

  #pathOf(expr: Expr): Path {
    return this.#local(expr)?.path ?? this.#paths.get(expr)
  }

  #select(expr: Expr & { kind: 'select' }): Range {
    const operand = this.cost(expr.operand)
    if (expr.isTest) return operand
    const { kind } = this.#typeOf(expr.operand)
    const path = this.#pathOf(expr.operand)
    this.#paths.set(expr, path && [...path, expr.field])
    return kind === 'map' || kind === 'object' ? sum(operand, selecting) : operand
  }

  #call(expr: CallExpr): Range {
    const { checked } = this.#options
    if (expr.name === 'dyn' && expr.args[0]) {
      const cost = sum(fixedRange(1), this.cost(expr.args[0]))
      this.#copySizes(expr, expr.args[0])
      return cost
    }
    const costs = expr.args.map((arg) => this.cost(arg))
    const target = expr.target && !checked.namespaced.has(expr) ? expr.target : undefined
    const targetCost = target ? this.cost(target) : fixedRange(0)
    const parts = target ? [target, ...expr.args] : expr.args
    const overloads = checked.overloads.get(expr) ?? []
    if (expr.name === '_?._') return sum(fixedRange(1), ...costs)
    const special = this.#control(expr, costs)
    if (special) return special
    const args = parts.map((part) => this.#sizeEstimate(part))
    let cost: Range | undefined
    for (const overload of overloads) {
      const { cost: own, resultSize } = estimateOf(overload, args)
      cost = cost ? union(cost, own) : own
      if (resultSize) this.#widen(expr, resultSize)
      this.#indexPath(expr, overload)
    }
    if (expr.name === '_+_' && parts[0] && parts[1]) this.#joinEntries(expr, parts[0], parts[1])
    return sum(targetCost, cost ?? fixedRange(0), ...costs)
  }

  /** Handles operators that do not evaluate every operand. */
  #control(expr: CallExpr, [first, second, third]: readonly Range[]): Range | undefined {
    if (!first || !second) return undefined
    if (expr.name === '_&&_' || expr.name === '_||_') {
      return { min: first.min, max: sum(first, second).max }
    }
    const [, yes, no] = expr.args
    if (expr.name !== '_?_:_' || !third || !yes || !no) return undefined
    this.#widen(expr, union(this.#sizeOf(yes) ?? unknownSize, this.#sizeOf(no) ?? unknownSize))
    this.#joinEntries(expr, yes, no)
    return sum(first, union(second, third))
  }

  #joinEntries(expr: Expr, a: Expr, b: Expr): void {
    const [left, right] = [this.#entriesOf(a), this.#entriesOf(b)]
    if (!left || !right) return
    const { container } = left
    const key = union(left.key, right.key)
    this.#entries.set(expr, { container, key, value: union(left.value, right.value) })
  }

  #indexPath(expr: CallExpr, { id }: Overload): void {
    const [container] = expr.args
    const step = id === 'index_list' ? '@items' : id === 'index_map' ? '@values' : undefined
    if (!container || !step) return
    const path = this.#pathOf(container)
    this.#paths.set(expr, path && [...path, step])
    const size = this.#entriesOf(container)?.value
    if (size) this.#sizes.set(expr, size)
  }

  #widen(expr: Expr, size: Range): void {
    const before = this.#sizes.get(expr)
    this.#sizes.set(expr, before ? union(before, size) : size)
  }

  #sizeEstimate(expr: Expr): SizeEstimate {
    const type = this.#typeOf(expr)
    const path = this.#pathOf(expr)
    const isAccumulated = path?.[0] === accumulator
    const size = this.#sizeOf(expr) ?? unknownSize
    const literal = expr.kind === 'literal' ? { literal: expr.value } : {}
    if (type.kind !== 'list') return { type, size, ...literal }
    const elementPath = path && !isAccumulated ? [...path, '@items'] : undefined
    return {
      type,
      size,
      element: () => ({
        type: type.element,
        size: this.#pathSize(elementPath) ?? unknownSize,
      }),
    }
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from)
    if (size) this.#sizes.set(to, size)
    const entries = this.#entriesOf(from)
    if (entries) this.#entries.set(to, entries)
  }

  #list(expr: ListExpr): Range {
    const costs = expr.elements.map((element) => this.cost(element))
    const value = this.#unionOf(expr.elements)
    this.#entries.set(expr, { container: 'list', key: fixedRange(1), value })
    return sum(...costs, listCost)
  }

  #map(expr: MapExpr): Range {
    const costs = expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)])
    const key = this.#unionOf(expr.entries.map((entry) => entry.key))
    const value = this.#unionOf(expr.entries.map((entry) => entry.value))
    this.#entries.set(expr, { container: 'map', key, value })
    return sum(...costs, mapCost)
  }

  #unionOf(exprs: readonly Expr[]): Range {
    if (exprs.length === 0) return fixedRange(0)
    return exprs
      .map((expr) => this.#sizeOf(expr) ?? unknownSize)
      .reduce((all, one) => union(all, one))
  }

  #binding(expr: ComprehensionExpr): Range {
    const range = this.cost(expr.range)
    const value = this.cost(expr.accuInit)
    this.#locals.push(this.#sizesAs(expr.accuVar, expr.accuInit))
    const result = this.cost(expr.result)
    const size = this.#sizeOf(expr.result)
    const entries = this.#entriesOf(expr.result)
    this.#locals.pop()
    if (size) this.#sizes.set(expr, size)
    if (entries) this.#entries.set(expr, entries)
    return sum(range, value, result)
  }

  #sizesAs(name: string, expr: Expr): LocalSize {
    return {
      name,
      path: this.#pathOf(expr),
      size: this.#sizeOf(expr),
      entries: this.#entriesOf(expr),
    }
  }

  #comprehension(expr: ComprehensionExpr): Range {
    const before = sum(this.cost(expr.range), this.cost(expr.accuInit))
    this.#locals.push(this.#sizesAs(expr.accuVar, expr.accuInit))
    const variables = this.#iterationLocals(expr)
    this.#locals.push(...variables)
    const each = sum(this.cost(expr.condition), this.cost(expr.step))
    const stepEntries = this.#entriesOf(expr.step)
    this.#locals.length -= variables.length
    const result = this.cost(expr.result)
    this.#locals.pop()
    const count = this.#sizeOf(expr.range) ?? unknownSize
    if (expr.accuInit.kind === 'literal') this.#sizes.set(expr, fixedRange(1))
    else if (expr.accuInit.kind === 'list' || expr.accuInit.kind === 'map') {
      this.#sizes.set(expr, count)
      if (stepEntries) this.#entries.set(expr, stepEntries)
    }
    return sum(before, result, product(count, each))
  }

  #iterationLocals(expr: ComprehensionExpr): LocalSize[] {
    const entries = this.#entriesOf(expr.range)
    const path = this.#pathOf(expr.range)
    const isList = (entries?.container ?? this.#typeOf(expr.range).kind) === 'list'
    const local = (name: string, step: string, size: Range | undefined): LocalSize => ({
      name,
      path: path && [...path, step],
      size,
      entries: undefined,
    })
    const key = local(expr.iterVar, isList ? '@indices' : '@keys', entries?.key)
    if (expr.iterVar2 !== undefined) {
      return [key, local(expr.iterVar2, isList ? '@items' : '@values', entries?.value)]
    }
    return [isList ? local(expr.iterVar, '@items', entries?.value) : key]
  }

  #entriesOf(expr: Expr): Entries | undefined {
    return this.#entries.get(expr) ?? this.#local(expr)?.entries
  }

  #sizeOf(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr)
    if (known) return known
    const bound = this.#pathSize(this.#pathOf(expr))
    if (bound) {
      this.#sizes.set(expr, bound)
      return bound
    }
    const type = this.#typeOf(expr)
    return isScalar(type) ? fixedRange(1) : this.#local(expr)?.size
  }

  #pathSize(path: Path): Range | undefined {
    if (!path || path[0] === accumulator) return undefined
    return this.#options.sizes?.(path) ?? this.#declaredSize(path)
  }

  /** Returns the size that the type at the path declares. */
  #declaredSize([first = '', ...steps]: readonly string[]): Range | undefined {
    const declared = this.#options.variables.get(first)
    // Upstream treats the name of a type as a further variable of size zero.
    if (!declared) return steps.length === 0 ? fixedRange(0) : undefined
    let type: CelType | undefined = unwrapOptional(declared) ?? declared
    for (const step of steps) {
      type = type && this.#below(type, step)
      if (!type) return undefined
    }
    return type && boundOf(type)
  }

  #below(type: CelType, step: string): CelType | undefined {
    if (type.kind === 'list') {
      return step === '@items' ? type.element : undefined
    }
    if (type.kind === 'map') {
      if (step === '@keys') return type.key
      return type.value
    }
    if (type.kind !== 'object') return undefined
    const fields = this.#options.types.get(type.name)?.fields
    return fields && Object.hasOwn(fields, step) ? fields[step]?.type : undefined
  }
}

function estimateOf(overload: Overload, args: readonly SizeEstimate[]): CallEstimate {
  return overload.estimate?.(args) ?? { cost: fixedRange(1) }
}

function isBinding({ range, condition, accuVar }: ComprehensionExpr): boolean {
  return (
    range.kind === 'list' &&
    range.elements.length === 0 &&
    condition.kind === 'literal' &&
    condition.value === false &&
    accuVar !== accumulator
  )
}

/** A declared value without a size counts as empty, as upstream. */
function boundOf(type: CelType): Range {
  const max = 'maxElements' in type ? (type.maxElements ?? 0) : 0
  return { min: 0, max: Math.min(max, unbounded) }
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === 'list') return fixedRange(expr.elements.length)
  if (expr.kind === 'map') return fixedRange(expr.entries.length)
  return expr.kind === 'literal' ? fixedRange(sizeOfLiteral(expr.value)) : undefined
}

function sizeOfLiteral(value: CelValue): number {
  if (typeof value === 'string') return lengthOf(value)
  return value instanceof Uint8Array ? value.length : 1
}

function isScalar(type: CelType): boolean {
  const inner = unwrapOptional(type)
  if (inner) return isScalar(inner)
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind)
}
