import { LuaFrame, type LuaLocal } from './lua-frame.ts'
import {
  callValue,
  lengthOf,
  lookUp,
  negate,
  operations,
  store,
  type LuaPoint,
} from './lua-operators.ts'
import type { LuaCall, LuaExpression, LuaField, LuaPlace, LuaProto } from './lua-syntax.ts'
import { LuaTable } from './lua-table.ts'
import { isTrue, LuaFunction, type LuaValue } from './lua-value.ts'
import { elementBytes } from './limits-table.ts'

/** Evaluates an expression in a call of its function. */
export type Evaluate = (frame: LuaFrame) => LuaValue
/** Evaluates an expression with any number of values. */
type EvaluateAll = (frame: LuaFrame) => readonly LuaValue[]
/** Compiles a function's body. Its first result ends the function. */
export type CompileBody = (proto: LuaProto) => (frame: LuaFrame) => readonly LuaValue[]

/** Compiles the expressions of a tree to functions, once for a script instead of in each call. */
export class LuaEvaluators {
  readonly #compileBody: CompileBody

  constructor(compileBody: CompileBody) {
    this.#compileBody = compileBody
  }

  /** Returns the first value only. */
  one(expression: LuaExpression): Evaluate {
    switch (expression.type) {
      case 'constant': {
        const { value } = expression
        return () => value
      }
      case 'varargs':
        return ({ varargs }) => varargs[0]
      case 'function':
        return this.function(expression.proto)
      case 'call': {
        const call = this.call(expression)
        return (frame) => call(frame)[0]
      }
      case 'parens':
        return this.one(expression.inner)
      case 'table':
        return this.#table(expression.fields)
      case 'local':
      case 'captured':
      case 'global':
      case 'index':
        return this.#place(expression)
      default:
        return this.#operator(expression)
    }
  }

  #place(place: LuaPlace): Evaluate {
    switch (place.type) {
      case 'local': {
        const { slot } = place
        return (frame) => frame.local(slot).value
      }
      case 'captured': {
        const { index } = place
        return (frame) => frame.capture(index).value
      }
      case 'global': {
        const { name } = place
        return ({ run }) => run.globals.get(name)
      }
      case 'index': {
        const { line } = place
        const [object, key] = [this.one(place.object), this.one(place.key)]
        return (frame) => lookUp(object(frame), key(frame), { run: frame.run, line })
      }
    }
  }

  #operator(
    expression: Extract<
      LuaExpression,
      { type: 'and' | 'or' | 'binary' | 'not' | 'minus' | 'length' }
    >,
  ): Evaluate {
    switch (expression.type) {
      case 'and': {
        const [left, right] = [this.one(expression.left), this.one(expression.right)]
        return (frame) => {
          const value = left(frame)
          return isTrue(value) ? right(frame) : value
        }
      }
      case 'or': {
        const [left, right] = [this.one(expression.left), this.one(expression.right)]
        return (frame) => {
          const value = left(frame)
          return isTrue(value) ? value : right(frame)
        }
      }
      case 'binary': {
        const [left, right] = [this.one(expression.left), this.one(expression.right)]
        const { line } = expression
        const operation = operations[expression.operator]
        return (frame) => operation(left(frame), right(frame), { run: frame.run, line })
      }
      case 'not': {
        const operand = this.one(expression.operand)
        return (frame) => !isTrue(operand(frame))
      }
      case 'minus':
      case 'length': {
        const operand = this.one(expression.operand)
        const { line, type } = expression
        const apply = type === 'minus' ? negate : lengthOf
        return (frame) => apply(operand(frame), { run: frame.run, line })
      }
    }
  }

  /** Each of several expressions has one value, except that the last has all of its values. */
  all(expressions: readonly LuaExpression[]): EvaluateAll {
    const last = expressions.at(-1)
    if (last === undefined) return () => []
    if (last.type !== 'call' && last.type !== 'varargs') {
      const ones = expressions.map((each) => this.one(each))
      return (frame) => ones.map((each) => each(frame))
    }
    const firsts = expressions.slice(0, -1).map((each) => this.one(each))
    const rest: EvaluateAll = last.type === 'call' ? this.call(last) : ({ varargs }) => varargs
    if (firsts.length === 0) return rest
    return (frame) => {
      const values = firsts.map((each) => each(frame))
      values.push(...rest(frame))
      return values
    }
  }

  call({ callee, method, args, line }: LuaCall): EvaluateAll {
    const [called, given] = [this.one(callee), this.all(args)]
    if (method === undefined) {
      return (frame) => callValue(called(frame), given(frame), { run: frame.run, line })
    }
    return (frame) => {
      const at: LuaPoint = { run: frame.run, line }
      const object = called(frame)
      const body = lookUp(object, method, at)
      return callValue(body, [object, ...given(frame)], at)
    }
  }

  function(proto: LuaProto): Evaluate {
    const body = this.#compileBody(proto)
    const { captures, parameters, hasVarargs, name } = proto
    return (around) => {
      const captured: LuaLocal[] = captures.map(({ from, index }) =>
        from === 'local' ? around.local(index) : around.capture(index),
      )
      around.run.spend(elementBytes * (1 + captured.length))
      return new LuaFunction(name, (args, run) => {
        if (parameters.length > 4) run.step(parameters.length >> 2)
        const varargs = hasVarargs ? args.slice(parameters.length) : []
        const frame = new LuaFrame(run, captured, varargs)
        for (const [index, slot] of parameters.entries()) frame.declare(slot, args[index])
        return body(frame)
      })
    }
  }

  #table(fields: readonly LuaField[]): Evaluate {
    const keyed = fields.flatMap(({ key, value }) =>
      key === undefined ? [] : [[this.one(key), this.one(value)] as const],
    )
    const row = this.all(fields.flatMap(({ key, value }) => (key === undefined ? [value] : [])))
    return (frame) => {
      const { run } = frame
      const elements = [...row(frame)]
      run.step(elements.length)
      run.spend(elementBytes * (elements.length + 1))
      const table = new LuaTable(elements)
      for (const [key, value] of keyed) table.set(key(frame), value(frame), run)
      return table
    }
  }

  /** Returns a function that assigns. The object and the key are evaluated before any assignment. */
  target(place: LuaPlace): (frame: LuaFrame) => (value: LuaValue) => void {
    switch (place.type) {
      case 'local': {
        const { slot } = place
        return (frame) => (value) => void (frame.local(slot).value = value)
      }
      case 'captured': {
        const { index } = place
        return (frame) => (value) => void (frame.capture(index).value = value)
      }
      case 'global': {
        const { name } = place
        return ({ run }) =>
          (value) =>
            run.globals.set(name, value, run)
      }
      case 'index': {
        const { line } = place
        const [object, key] = [this.one(place.object), this.one(place.key)]
        return (frame) => {
          const [table, field] = [object(frame), key(frame)]
          return (value) => store(table, [field, value], { run: frame.run, line })
        }
      }
    }
  }
}
