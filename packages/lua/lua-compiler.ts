import { LuaEvaluators } from './lua-evaluate.ts'
import { errorAt, LuaFrame } from './lua-frame.ts'
import { callValue } from './lua-operators.ts'
import { parseLua } from './lua-parser.ts'
import type { LuaRun } from './lua-run.ts'
import type { LuaBlock, LuaExpression, LuaStatement } from './lua-syntax.ts'
import { isTrue, numberOf, type LuaValue } from './lua-value.ts'
import { statementSteps, stepsOf } from './lua-weight.ts'

/** A script that is ready to run. Running it defines its functions as globals. */
export type LuaProgram = (run: LuaRun) => readonly LuaValue[]

/** The outcome of a statement. With undefined, execution goes on; with a list, the function returns it. */
type Outcome = undefined | 'break' | readonly LuaValue[]
type Execute = (frame: LuaFrame) => Outcome

/** Throws a LuaError that names the line. */
export function compileLua(script: string): LuaProgram {
  const proto = parseLua(script)
  const body = bodyOf(proto.body)
  return (run) => body(new LuaFrame(run, [], []))
}

const evaluators = new LuaEvaluators(({ body }) => bodyOf(body))

function bodyOf(block: LuaBlock): (frame: LuaFrame) => readonly LuaValue[] {
  const execute = blockOf(block)
  return (frame) => {
    const outcome = execute(frame)
    return outcome === undefined || outcome === 'break' ? [] : outcome
  }
}

function blockOf(block: LuaBlock): Execute {
  const statements = block.map((statement) => ({
    execute: statementOf(statement),
    steps: statementSteps(statement),
  }))
  return (frame) => {
    for (const { execute, steps } of statements) {
      frame.run.step(steps)
      const outcome = execute(frame)
      if (outcome !== undefined) return outcome
    }
    return undefined
  }
}

function statementOf(statement: LuaStatement): Execute {
  switch (statement.type) {
    case 'call-statement': {
      const call = evaluators.call(statement.call)
      return (frame) => void call(frame)
    }
    case 'local-statement':
      return localOf(statement)
    case 'local-function':
      return localFunctionOf(statement)
    case 'assign':
      return assignmentOf(statement)
    case 'do':
      return blockOf(statement.body)
    case 'while':
      return loopOf(statement)
    case 'repeat':
      return repeatOf(statement)
    case 'if':
      return ifOf(statement)
    case 'for':
      return countingOf(statement)
    case 'for-in':
      return walkOf(statement)
    case 'return': {
      const values = evaluators.all(statement.values)
      return (frame) => values(frame)
    }
    case 'break':
      return () => 'break'
  }
}

type StatementOf<Type extends LuaStatement['type']> = Extract<LuaStatement, { type: Type }>

function localOf({ slots, values }: StatementOf<'local-statement'>): Execute {
  const [slot, ...others] = slots
  const [value, ...more] = values
  if (slot !== undefined && value !== undefined && others.length + more.length === 0) {
    const one = evaluators.one(value)
    return (frame) => frame.declare(slot, one(frame)) as undefined
  }
  const all = evaluators.all(values)
  return (frame) => {
    const found = all(frame)
    for (const [index, each] of slots.entries()) frame.declare(each, found[index])
    return undefined
  }
}

function localFunctionOf({ slot, proto }: StatementOf<'local-function'>): Execute {
  const make = evaluators.function(proto)
  return (frame) => {
    frame.declare(slot, undefined)
    frame.local(slot).value = make(frame)
    return undefined
  }
}

function assignmentOf({ places, values }: StatementOf<'assign'>): Execute {
  const targets = places.map((place) => evaluators.target(place))
  const all = evaluators.all(values)
  return (frame) => {
    const put = targets.map((target) => target(frame))
    const found = all(frame)
    for (const [index, each] of put.entries()) each(found[index])
    return undefined
  }
}

function ifOf({ clauses, otherwise = [] }: StatementOf<'if'>): Execute {
  const compiled = clauses.map(({ condition, body }) => ({
    condition: evaluators.one(condition),
    body: blockOf(body),
  }))
  const last = blockOf(otherwise)
  return (frame) => {
    for (const { condition, body } of compiled) {
      if (isTrue(condition(frame))) return body(frame)
    }
    return last(frame)
  }
}

function loopOf({ condition, body }: StatementOf<'while'>): Execute {
  const isOn = evaluators.one(condition)
  const execute = blockOf(body)
  const steps = stepsOf([condition])
  return (frame) => {
    while (isTrue(isOn(frame))) {
      frame.run.step(steps)
      const outcome = execute(frame)
      if (outcome === 'break') return undefined
      if (outcome !== undefined) return outcome
    }
    return undefined
  }
}

function repeatOf({ body, until }: StatementOf<'repeat'>): Execute {
  const execute = blockOf(body)
  const isDone = evaluators.one(until)
  const steps = stepsOf([until])
  return (frame) => {
    do {
      frame.run.step(steps)
      const outcome = execute(frame)
      if (outcome === 'break') return undefined
      if (outcome !== undefined) return outcome
    } while (!isTrue(isDone(frame)))
    return undefined
  }
}

function countingOf({ slot, from, to, by, body, line }: StatementOf<'for'>): Execute {
  const one: LuaExpression = { type: 'constant', value: 1 }
  const bounds = [from, to, by ?? one].map((each) => evaluators.one(each))
  const execute = blockOf(body)
  return (frame) => {
    const [first, last, step] = bounds.map((bound) => numberOf(bound(frame)))
    if (first === undefined || last === undefined || step === undefined) {
      throw errorAt(line, "'for' initial value, limit and step must be numbers")
    }
    for (let count = first; step > 0 ? count <= last : count >= last; count += step) {
      frame.run.step()
      frame.declare(slot, count)
      const outcome = execute(frame)
      if (outcome === 'break') return undefined
      if (outcome !== undefined) return outcome
    }
    return undefined
  }
}

function walkOf({ slots, values, body, line }: StatementOf<'for-in'>): Execute {
  const all = evaluators.all(values)
  const execute = blockOf(body)
  const steps = stepsOf([], slots.length)
  return (frame) => {
    const [next, state, start] = all(frame)
    let control = start
    for (;;) {
      frame.run.step(steps)
      const found = callValue(next, [state, control], { run: frame.run, line })
      control = found[0]
      if (control === undefined) return undefined
      for (const [index, slot] of slots.entries()) frame.declare(slot, found[index])
      const outcome = execute(frame)
      if (outcome === 'break') return undefined
      if (outcome !== undefined) return outcome
    }
  }
}
