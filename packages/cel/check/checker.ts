import {
  celTypes,
  listType,
  mapType,
  objectType,
  optionalType,
  typeParameter,
  typeText,
  type CelType,
  type ObjectType,
} from '../language/cel-type.ts'
import type { CelValue } from '../language/cel-value.ts'
import { CelTypeValue } from '../language/cel-value.ts'
import type { Overload } from './library.ts'
import {
  qualifiedName,
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  type SelectExpr,
  type StructExpr,
} from '../syntax/expr.ts'
import { compileError, type Problem } from '../syntax/source.ts'
import { equalTypes, isDynamic, mostGeneral, Substitutions, unwrapOptional } from './unify.ts'

/** The declarations that give names their meaning. */
export interface Declarations {
  readonly variables: ReadonlyMap<string, CelType>
  readonly types: ReadonlyMap<string, ObjectType>
  readonly constants: ReadonlyMap<string, { type: CelType; value: CelValue }>
  readonly functions: ReadonlyMap<string, readonly Overload[]>
}

/** The results of the check, by expression. */
export interface Checked {
  readonly expr: Expr
  readonly types: ReadonlyMap<Expr, CelType>
  /** The possible overloads of each call. There is more than one only if an argument is dyn. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>
  /** The meaning of each name. Local variables have no entry. */
  readonly names: ReadonlyMap<Expr, ResolvedName>
  /** The calls whose target is only the first part of the function's name. */
  readonly namespaced: ReadonlySet<Expr>
  /** List and map literals that mix types. The language allows them; API servers do not. */
  readonly mixed: readonly Problem[]
}

export type ResolvedName =
  | { readonly kind: 'local'; readonly name: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: CelValue }

/** Throws CelCompileError. */
export function check(text: string, expr: Expr, declarations: Declarations): Checked {
  const checker = new Checker(declarations)
  checker.check(expr)
  if (checker.problems.length > 0) throw compileError(text, checker.problems)
  return checker.finish(expr)
}

interface AlikePart {
  readonly expr: Expr
  /** It follows a `?`, so its type is the one inside the optional. */
  readonly isOptional: boolean
}

const scalarTypes: Readonly<Record<string, CelType>> = Object.freeze({
  bool: celTypes.bool,
  bytes: celTypes.bytes,
  double: celTypes.double,
  dyn: celTypes.dyn,
  int: celTypes.int,
  list: listType(celTypes.dyn),
  map: mapType(celTypes.dyn, celTypes.dyn),
  null_type: celTypes.null,
  string: celTypes.string,
  type: { kind: 'type' },
  uint: celTypes.uint,
  optional_type: optionalType(celTypes.dyn),
  'google.protobuf.Timestamp': celTypes.timestamp,
  'google.protobuf.Duration': celTypes.duration,
})

class Checker {
  readonly #declarations: Declarations
  readonly problems: Problem[] = []
  readonly #known = new Substitutions()
  readonly #types = new Map<Expr, CelType>()
  readonly #overloads = new Map<Expr, readonly Overload[]>()
  readonly #names = new Map<Expr, ResolvedName>()
  readonly #namespaced = new Set<Expr>()
  /** The elements of list literals, and the keys and values of map literals, that must have one type. */
  readonly #alike: (readonly AlikePart[])[] = []
  #scopes: ReadonlyMap<string, CelType>[] = []
  #parameters = 0

  constructor(declarations: Declarations) {
    this.#declarations = declarations
  }

  finish(expr: Expr): Checked {
    for (const [at, type] of this.#types) this.#types.set(at, this.#known.apply(type, true))
    return {
      expr,
      types: this.#types,
      overloads: this.#overloads,
      names: this.#names,
      namespaced: this.#namespaced,
      mixed: this.#alike.flatMap((parts) => this.#firstOther(parts) ?? []),
    }
  }

  /**
   * Returns the first part whose type differs from that of the first part, once all types are
   * known. A dyn is a type of its own.
   */
  #firstOther(parts: readonly AlikePart[]): Problem | undefined {
    let expected: CelType | undefined
    for (const { expr, isOptional } of parts) {
      const whole = this.#types.get(expr) ?? celTypes.error
      const type = isOptional ? (unwrapOptional(whole) ?? whole) : whole
      expected ??= type
      if (equalTypes(expected, type)) continue
      return { at: expr.at, message: this.#mismatchText(expected, type) }
    }
    return undefined
  }

  check(expr: Expr): CelType {
    const type = this.#typeOf(expr)
    this.#types.set(expr, type)
    return type
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value)
      case 'ident':
        return this.#ident(expr, expr.name) ?? this.#undeclared(expr, expr.name)
      case 'select':
        return this.#select(expr)
      case 'call':
        return this.#call(expr)
      case 'list':
        return this.#list(expr)
      case 'map':
        return this.#map(expr)
      case 'struct':
        return this.#struct(expr)
      case 'comprehension':
        return this.#comprehension(expr)
    }
  }

  #undeclared({ at }: Expr, name: string): CelType {
    this.#wrong(at, `undeclared reference to '${name}' (in container '')`)
    return celTypes.error
  }

  #wrong(at: number, message: string): void {
    this.problems.push({ at, message })
  }

  #mismatch({ at }: Expr, expected: CelType, found: CelType): void {
    this.#wrong(at, this.#mismatchText(expected, found))
  }

  #mismatchText(expected: CelType, found: CelType): string {
    const texts = [expected, found].map((type) => typeText(this.#known.apply(type)))
    return `expected type '${texts[0]}' but found '${texts[1]}'`
  }

  /** Returns the type of a name from the innermost scope that declares it. */
  #ident(expr: Expr, written: string): CelType | undefined {
    const name = written.replace(/^\./, '')
    for (const scope of this.#scopes.toReversed()) {
      const type = written === name ? scope.get(name) : undefined
      if (!type) continue
      this.#names.set(expr, { kind: 'local', name })
      return type
    }
    const { variables, constants, types } = this.#declarations
    const variable = variables.get(name)
    if (variable) {
      this.#names.set(expr, { kind: 'variable', name })
      return variable
    }
    const constant = constants.get(name)
    const of = scalarTypes[name] ?? (types.has(name) ? objectType(name) : undefined)
    if (!constant && !of) return undefined
    this.#names.set(expr, { kind: 'constant', value: constant?.value ?? new CelTypeValue(name) })
    return constant?.type ?? { kind: 'type', ...(of ? { of } : {}) }
  }

  #select(expr: SelectExpr): CelType {
    const name = qualifiedName(expr)
    const named = name === undefined || expr.isTest ? undefined : this.#ident(expr, name)
    if (named) return named
    const type = this.#field(expr, expr.operand, { field: expr.field, isOptional: false })
    return expr.isTest ? celTypes.bool : this.#known.apply(type)
  }

  #field(
    expr: Expr,
    operand: Expr,
    { field, isOptional }: { field: string; isOptional: boolean },
  ): CelType {
    const operandType = this.#known.apply(this.check(operand))
    const unwrapped = unwrapOptional(operandType)
    const result = this.#fieldOf(expr, unwrapped ?? operandType, field)
    return unwrapped || isOptional ? optionalType(result) : result
  }

  #fieldOf(expr: Expr, target: CelType, field: string): CelType {
    if (target.kind === 'map') return target.value
    if (target.kind === 'object') return this.#objectField(expr.at, target.name, field)
    if (target.kind === 'parameter') {
      this.#known.isAssignable(celTypes.dyn, target)
      return celTypes.dyn
    }
    if (!isDynamic(target)) {
      this.#wrong(expr.at, `type '${typeText(target)}' does not support field selection`)
    }
    return celTypes.dyn
  }

  #objectField(at: number, typeName: string, field: string): CelType {
    const type = this.#declarations.types.get(typeName)
    const found = type && Object.hasOwn(type.fields, field) ? type.fields[field] : undefined
    if (!type) this.#wrong(at, `unexpected failed resolution of '${typeName}'`)
    else if (!found) this.#wrong(at, `undefined field '${field}'`)
    return found?.type ?? celTypes.error
  }

  #call(expr: CallExpr): CelType {
    if (expr.name === '_?._') return this.#optionalSelect(expr)
    const alikeBefore = this.#alike.length
    const args = expr.args.map((arg) => this.check(arg))
    const { functions } = this.#declarations
    const plainName = expr.name.replace(/^\./, '')
    if (!expr.target) {
      const overloads = functions.get(plainName)
      if (!overloads) return this.#undeclared(expr, expr.name)
      return this.#resolve(expr, { overloads, types: args, name: plainName })
    }
    const prefix = qualifiedName(expr.target)
    const qualified = prefix === undefined ? undefined : `${prefix.replace(/^\./, '')}.${expr.name}`
    const namespaced = qualified === undefined ? undefined : functions.get(qualified)
    if (namespaced && qualified !== undefined) {
      this.#namespaced.add(expr)
      return this.#resolve(expr, { overloads: namespaced, types: args, name: qualified })
    }
    const target = this.check(expr.target)
    // Literals inside a call of format() may mix types.
    if (expr.name === 'format') this.#alike.length = alikeBefore
    const overloads = functions.get(expr.name)
    if (!overloads) return this.#undeclared(expr, expr.name)
    return this.#resolve(expr, { overloads, types: [target, ...args], name: expr.name })
  }

  #optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args
    if (!operand || field?.kind !== 'literal' || typeof field.value !== 'string')
      return celTypes.error
    this.check(field)
    return this.#known.apply(this.#field(expr, operand, { field: field.value, isOptional: true }))
  }

  #resolve(
    expr: CallExpr,
    { overloads, types, name }: { overloads: readonly Overload[]; types: CelType[]; name: string },
  ): CelType {
    const isMember = expr.target !== undefined && !this.#namespaced.has(expr)
    if (name === '_&&_' || name === '_||_') return this.#logical(expr, types, overloads)
    const found: Overload[] = []
    let result: CelType | undefined
    for (const overload of overloads) {
      if ((overload.isMember ?? false) !== isMember) continue
      const fresh = this.#fresh(overload)
      if (!this.#known.areAssignable(types, fresh.parameters)) continue
      found.push(overload)
      const own = this.#known.apply(fresh.result)
      if (!result) result = own
      else if (result.kind !== 'dyn' && !equalTypes(own, result)) result = celTypes.dyn
    }
    this.#overloads.set(expr, found)
    if (result) return result
    const shown = types.map((type) => typeText(this.#known.apply(type, true)))
    const [first, ...others] = shown
    const signature = isMember ? `${first}.(${others.join(', ')})` : `(${shown.join(', ')})`
    this.#wrong(expr.at, `found no matching overload for '${name}' applied to '${signature}'`)
    return celTypes.error
  }

  #logical(expr: CallExpr, types: readonly CelType[], overloads: readonly Overload[]): CelType {
    this.#overloads.set(expr, overloads)
    let result: CelType = celTypes.bool
    for (const [at, type] of types.entries()) {
      if (this.#known.isAssignable(type, celTypes.bool)) continue
      this.#mismatch(expr.args[at] ?? expr, celTypes.bool, type)
      result = celTypes.error
    }
    return result
  }

  /** Returns the overload's type with its own copies of type parameters. */
  #fresh({ parameters, result }: Overload): { parameters: CelType[]; result: CelType } {
    const renamed = new Map<string, CelType>()
    const rename = (type: CelType): CelType => {
      switch (type.kind) {
        case 'parameter': {
          const known = renamed.get(type.name) ?? this.#parameter()
          renamed.set(type.name, known)
          return known
        }
        case 'list':
          return { ...type, element: rename(type.element) }
        case 'map':
          return { ...type, key: rename(type.key), value: rename(type.value) }
        case 'opaque':
          return type.parameters.length === 0
            ? type
            : { ...type, parameters: type.parameters.map(rename) }
        case 'type':
          return type.of ? { ...type, of: rename(type.of) } : type
        default:
          return type
      }
    }
    return { parameters: parameters.map(rename), result: rename(result) }
  }

  #parameter(): CelType {
    this.#parameters += 1
    return typeParameter(`_var${this.#parameters - 1}`)
  }

  #list(expr: ListExpr): CelType {
    let joined: CelType | undefined
    const parts: AlikePart[] = []
    for (const [at, element] of expr.elements.entries()) {
      const isOptional = expr.optionals.has(at)
      joined = this.#join(joined, this.#unwrapped(element, this.check(element), isOptional))
      parts.push({ expr: element, isOptional })
    }
    this.#alike.push(parts)
    return listType(joined ?? this.#parameter())
  }

  #map(expr: MapExpr): CelType {
    let keys: CelType | undefined
    let values: CelType | undefined
    for (const { key, value, isOptional } of expr.entries) {
      keys = this.#join(keys, this.check(key))
      values = this.#join(values, this.#unwrapped(value, this.check(value), isOptional))
    }
    this.#alike.push(
      expr.entries.map(({ key }) => ({ expr: key, isOptional: false })),
      expr.entries.map(({ value, isOptional }) => ({ expr: value, isOptional })),
    )
    return mapType(keys ?? this.#parameter(), values ?? this.#parameter())
  }

  #unwrapped(expr: Expr, type: CelType, isOptional: boolean): CelType {
    if (!isOptional) return type
    const unwrapped = unwrapOptional(type)
    if (!unwrapped && type.kind !== 'dyn') this.#mismatch(expr, optionalType(type), type)
    return unwrapped ?? type
  }

  /** Returns the common type of the elements so far, or dyn once they differ. */
  #join(before: CelType | undefined, next: CelType): CelType {
    if (!before) return next
    return this.#known.isAssignable(before, next) ? mostGeneral(before, next) : celTypes.dyn
  }

  #struct(expr: StructExpr): CelType {
    const name = expr.typeName.replace(/^\./, '')
    const isKnown = this.#declarations.types.has(name)
    const result = isKnown ? objectType(name) : this.#undeclared(expr, expr.typeName)
    for (const { at, name: field, value, isOptional } of expr.fields) {
      const type = this.#unwrapped(value, this.check(value), isOptional)
      if (!isKnown) continue
      const declared = this.#objectField(at, name, field)
      if (this.#known.isAssignable(declared, type)) continue
      this.#wrong(
        at,
        `expected type of field '${field}' is '${typeText(declared)}' but provided type is '${typeText(type)}'`,
      )
    }
    return result
  }

  #comprehension(expr: ComprehensionExpr): CelType {
    const range = this.#known.apply(this.check(expr.range))
    const accu = this.check(expr.accuInit)
    const [first, second] = this.#variablesOf(expr, range)
    const outer = this.#scopes
    const withAccu = [...outer, new Map([[expr.accuVar, accu]])]
    const variables = new Map([[expr.iterVar, first]])
    if (expr.iterVar2 !== undefined) variables.set(expr.iterVar2, second)
    this.#scopes = [...withAccu, variables]
    const condition = this.check(expr.condition)
    if (!this.#known.isAssignable(celTypes.bool, condition)) {
      this.#mismatch(expr.condition, celTypes.bool, condition)
    }
    const step = this.check(expr.step)
    if (!this.#known.isAssignable(accu, step)) this.#mismatch(expr.step, accu, step)
    this.#scopes = withAccu
    const result = this.check(expr.result)
    this.#scopes = outer
    return this.#known.apply(result)
  }

  #variablesOf(expr: ComprehensionExpr, range: CelType): [CelType, CelType] {
    const hasTwo = expr.iterVar2 !== undefined
    if (range.kind === 'list') {
      return hasTwo ? [celTypes.int, range.element] : [range.element, celTypes.error]
    }
    if (range.kind === 'map') return [range.key, range.value]
    if (isDynamic(range) || range.kind === 'parameter') {
      this.#known.isAssignable(celTypes.dyn, range)
      return [celTypes.dyn, celTypes.dyn]
    }
    this.#wrong(
      expr.range.at,
      `expression of type '${typeText(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    )
    return [celTypes.error, celTypes.error]
  }
}

function literalType(value: CelValue): CelType {
  if (value === null) return celTypes.null
  switch (typeof value) {
    case 'boolean':
      return celTypes.bool
    case 'bigint':
      return celTypes.int
    case 'number':
      return celTypes.double
    case 'string':
      return celTypes.string
    default:
      return value instanceof Uint8Array ? celTypes.bytes : celTypes.uint
  }
}
