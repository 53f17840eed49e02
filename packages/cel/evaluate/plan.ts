import { CelRuntimeError } from '../language/cel-errors.ts'
import { CelOptional, type CelValue } from '../language/cel-value.ts'
import type { Checked } from '../check/checker.ts'
import type { Overload } from '../check/library.ts'
import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  ListExpr,
  MapExpr,
  SelectExpr,
  StructExpr,
} from '../syntax/expr.ts'
import { accumulator } from '../syntax/macros.ts'
import { areEqual } from '../values/equality.ts'
import { hasType, isList, isMap, listOf, noSuchOverload, sizeOf } from '../values/kinds.ts'
import { mapOf } from '../values/made-map.ts'
import { Frame, type Step } from './frame.ts'
import { contains, madeList } from './made-list.ts'
import { isPresent, keyText, select } from './select.ts'

/** The costs of operations, as cel-go counts them. */
const evaluationCosts = Object.freeze({
  identOrSelect: 1,
  list: 10,
  map: 30,
  object: 40,
  textFactor: 0.1,
  patternFactor: 0.25,
})

/** Converts a checked expression to steps. */
export function plan(checked: Checked): Step {
  return new Planner(checked).plan(checked.expr)
}

const constant = (value: CelValue): Step => ({ run: () => value, constant: { value } })

/** Returns a chain that its reader pays for: the same steps without the cost of the name. */
function branchOf(step: Step): (frame: Frame) => CelValue {
  if (step.chain !== 'plain') return (frame) => step.run(frame)
  return (frame) => {
    frame.cost -= evaluationCosts.identOrSelect
    return step.run(frame)
  }
}

class Planner {
  readonly #checked: Checked
  #scope: readonly { readonly name: string; readonly slot: number }[] = []
  #slots = 0

  constructor(checked: Checked) {
    this.#checked = checked
  }

  plan(expr: Expr): Step {
    const name = this.#checked.names.get(expr)
    if (name) {
      if (name.kind === 'constant') return constant(name.value)
      return name.kind === 'local' ? this.#local(name.name) : variable(name.name)
    }
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value)
      case 'ident':
        throw new RangeError(`Cannot plan: the name ${expr.name} was not resolved`)
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

  #local(name: string): Step {
    const slot = this.#scope.findLast((local) => local.name === name)?.slot ?? -1
    return {
      chain: 'plain',
      run(frame) {
        frame.pay(evaluationCosts.identOrSelect)
        return frame.local(slot)
      },
    }
  }

  #select({ operand, field, isTest }: SelectExpr): Step {
    const from = this.plan(operand)
    if (isTest) {
      return { run: (frame) => isPresent(from.run(frame), field) }
    }
    return selection(from, constant(field), { isOptional: false })
  }

  #call(expr: CallExpr): Step {
    const parts =
      expr.target && !this.#checked.namespaced.has(expr) ? [expr.target, ...expr.args] : expr.args
    const args = parts.map((part) => this.plan(part))
    const [first, second, third] = args
    if (first && second) {
      switch (expr.name) {
        case '_&&_':
          return logical(first, second, false)
        case '_||_':
          return logical(first, second, true)
        case '_?_:_':
          if (third) return choice(first, second, third)
          break
        case '_[_]':
          return selection(first, second, { isOptional: false })
        case '_?._':
        case '_[?_]':
          return selection(first, second, { isOptional: true })
        case 'or':
        case 'orValue':
          if (expr.target) return orElse(first, second, expr.name === 'or')
          break
        case '@in':
          if (second.constant) return membership(first, second.constant.value)
          break
        default:
      }
    }
    if (expr.name === '@not_strictly_false' && first) return notStrictlyFalse(first)
    return folded(expr, call(expr, this.#checked.overloads.get(expr) ?? [], args), args)
  }

  #list({ elements, optionals }: ListExpr): Step {
    const steps = elements.map((element) => this.plan(element))
    const isConstant = optionals.size === 0 && steps.every((step) => step.constant)
    if (isConstant) return constant(listOf(steps.map((step) => step.constant?.value ?? null)))
    return {
      run(frame) {
        const items: CelValue[] = []
        for (const [at, step] of steps.entries()) {
          const value = step.run(frame)
          if (!optionals.has(at)) items.push(value)
          else if (value instanceof CelOptional && value.value !== undefined)
            items.push(value.value)
        }
        frame.pay(evaluationCosts.list)
        return madeList(items)
      },
    }
  }

  #map({ entries }: MapExpr): Step {
    const steps = entries.map(({ key, value, isOptional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      isOptional,
    }))
    const make = (read: (step: Step) => CelValue): CelValue => {
      const made: [CelValue, CelValue][] = []
      for (const { key, value, isOptional } of steps) {
        const name = read(key)
        const held = isOptional ? heldBy(read(value)) : read(value)
        if (made.some(([other]) => areEqual(other, name))) {
          throw new CelRuntimeError(`Failed with repeated key: ${keyText(name)}`)
        }
        if (held !== undefined) made.push([name, held])
      }
      return mapOf(made)
    }
    if (
      steps.every(({ key, value, isOptional }) => key.constant && value.constant && !isOptional)
    ) {
      try {
        return constant(make((step) => step.constant?.value ?? null))
      } catch (error) {
        if (!(error instanceof CelRuntimeError)) throw error
        return {
          run: () => {
            throw error
          },
        }
      }
    }
    return {
      run(frame) {
        const made = make((step) => step.run(frame))
        frame.pay(evaluationCosts.map)
        return made
      },
    }
  }

  #struct({ typeName, fields }: StructExpr): Step {
    const steps = fields.map(({ name, value, isOptional }) => ({
      name,
      isOptional,
      value: this.plan(value),
    }))
    return {
      run(frame) {
        const members = new Map<string, CelValue>()
        for (const { name, value, isOptional } of steps) {
          const held = isOptional ? heldBy(value.run(frame)) : value.run(frame)
          if (held !== undefined) members.set(name, held)
        }
        frame.pay(evaluationCosts.object)
        return {
          celKind: 'object',
          typeName,
          get: (field) => members.get(field),
          fields: () => members.keys(),
        }
      },
    }
  }

  #comprehension(expr: ComprehensionExpr): Step {
    const accu = this.plan(expr.accuInit)
    const range = this.plan(expr.range)
    const outer = this.#scope
    const accuSlot = this.#slots
    this.#slots += 3
    const withAccu = [...outer, { name: expr.accuVar, slot: accuSlot }]
    this.#scope = withAccu
    const result = this.plan(expr.result)
    const isEmpty = expr.range.kind === 'list' && expr.range.elements.length === 0
    const isBound = isEmpty && expr.accuVar !== accumulator
    if (isBound) {
      this.#scope = outer
      return {
        run(frame) {
          frame.setLocal(accuSlot, { late: accu })
          return result.run(frame)
        },
      }
    }
    const names = [expr.iterVar, ...(expr.iterVar2 === undefined ? [] : [expr.iterVar2])]
    this.#scope = [...withAccu, ...names.map((name, at) => ({ name, slot: accuSlot + 1 + at }))]
    const loop: Loop = {
      range,
      accu,
      result,
      accuSlot,
      hasTwo: expr.iterVar2 !== undefined,
      condition: this.plan(expr.condition),
      step: this.plan(expr.step),
    }
    this.#scope = outer
    return { run: (frame) => fold(loop, frame) }
  }
}

function heldBy(value: CelValue): CelValue | undefined {
  if (value instanceof CelOptional) return value.value
  throw new CelRuntimeError('cannot initialize optional entry from a value that is not optional')
}

function variable(name: string): Step {
  return {
    chain: 'plain',
    run(frame) {
      frame.pay(evaluationCosts.identOrSelect)
      return frame.variable(name)
    },
  }
}

function selection(from: Step, key: Step, options: { isOptional: boolean }): Step {
  const base = from.chain ? 0 : evaluationCosts.identOrSelect
  // A key that is a chain itself has paid for this one.
  const own = key.chain ? 0 : evaluationCosts.identOrSelect
  return {
    chain: from.chain ?? 'plain',
    run(frame) {
      const operand = from.run(frame)
      const found = select(operand, key.run(frame), options)
      frame.pay(base + own)
      return found
    },
  }
}

function logical(left: Step, right: Step, decisive: boolean): Step {
  return {
    run(frame) {
      const first = frame.attempt(left)
      if ('value' in first && first.value === decisive) return decisive
      const second = frame.attempt(right)
      if ('value' in second && second.value === decisive) return decisive
      if ('error' in first) throw first.error
      if ('error' in second) throw second.error
      if (typeof first.value !== 'boolean' || typeof second.value !== 'boolean')
        throw noSuchOverload()
      return !decisive
    },
  }
}

function choice(condition: Step, yes: Step, no: Step): Step {
  const [onTrue, onFalse] = [branchOf(yes), branchOf(no)]
  return {
    chain: 'choice',
    run(frame) {
      const value = condition.run(frame)
      if (typeof value !== 'boolean') throw noSuchOverload()
      return value ? onTrue(frame) : onFalse(frame)
    },
  }
}

function orElse(left: Step, right: Step, isOptional: boolean): Step {
  return {
    run(frame) {
      const value = left.run(frame)
      if (!(value instanceof CelOptional)) throw noSuchOverload()
      if (value.value === undefined) return right.run(frame)
      return isOptional ? value : value.value
    },
  }
}

/** Plans `x in [1, 2, 3]`: the list is known, and the search is free. */
function membership(value: Step, list: CelValue): Step {
  if (isList(list)) {
    if (list.size === 0) return constant(false)
    return { run: (frame) => contains(list, value.run(frame)) }
  }
  return {
    run(frame) {
      const key = value.run(frame)
      frame.pay(1)
      if (!isMap(list)) throw noSuchOverload()
      return list.get(key) !== undefined
    },
  }
}

function notStrictlyFalse(arg: Step): Step {
  return {
    run(frame) {
      const result = frame.attempt(arg)
      frame.pay(1)
      return 'error' in result || result.value !== false
    },
  }
}

function call({ name }: CallExpr, overloads: readonly Overload[], args: readonly Step[]): Step {
  const [only] = overloads
  if (only && overloads.length === 1) {
    return {
      run(frame) {
        const values = args.map((arg) => arg.run(frame))
        return called(only, values, { frame, isCertain: true })
      },
    }
  }
  return {
    run(frame) {
      const values = args.map((arg) => arg.run(frame))
      const fitting = overloads.find(({ parameters }) =>
        parameters.every((type, at) => hasType(values[at] ?? null, type)),
      )
      if (!fitting)
        throw noSuchOverload(
          name.startsWith('_') || name.startsWith('@') ? undefined : name,
          values,
        )
      return called(fitting, values, { frame, isCertain: false })
    },
  }
}

function called(
  overload: Overload,
  values: readonly CelValue[],
  { frame, isCertain }: { frame: Frame; isCertain: boolean },
): CelValue {
  let result: CelValue
  try {
    result = overload.call(values)
  } catch (error) {
    if (error instanceof CelRuntimeError) frame.pay(1)
    throw error
  }
  const isCounted = isCertain || overload.isCostByName === true
  frame.pay(isCounted ? (overload.cost?.(values, result) ?? 1) : 1)
  return result
}

const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp uint'.split(' '),
)

/** The conversion of a literal is computed once and is free. */
function folded({ name, target }: CallExpr, step: Step, args: readonly Step[]): Step {
  const [arg] = args
  if (target || args.length !== 1 || !arg?.constant || !conversions.has(name)) return step
  const value = new Frame(() => null, Infinity).attempt(step)
  return 'value' in value ? constant(value.value) : step
}

interface Loop {
  readonly range: Step
  readonly accu: Step
  readonly condition: Step
  readonly step: Step
  readonly result: Step
  /** The iteration variables are in the slots after it. */
  readonly accuSlot: number
  readonly hasTwo: boolean
}

function fold(loop: Loop, frame: Frame): CelValue {
  const { accuSlot, hasTwo } = loop
  const range = loop.range.run(frame)
  frame.setLocal(accuSlot, frame.attempt(loop.accu))
  for (const [key, value] of iterate(range)) {
    const first = hasTwo || isMap(range) ? key : value
    frame.setLocal(accuSlot + 1, { value: first })
    if (hasTwo) frame.setLocal(accuSlot + 2, { value })
    if (loop.condition.run(frame) !== true) break
    frame.setLocal(accuSlot, frame.attempt(loop.step))
  }
  return loop.result.run(frame)
}

function* iterate(range: CelValue): Generator<[CelValue, CelValue]> {
  if (isList(range)) {
    for (let at = 0; at < range.size; at += 1) yield [BigInt(at), range.at(at)]
  } else if (isMap(range)) {
    for (const key of range.keys()) yield [key, range.get(key) ?? null]
  } else {
    throw noSuchOverload()
  }
}

/** Returns the cost of traversing text or a list once. */
export function traversalCost(...values: readonly CelValue[]): number {
  const size = values.reduce<number>((sum, value) => sum + sizeOf(value), 0)
  return Math.ceil(size * evaluationCosts.textFactor)
}
