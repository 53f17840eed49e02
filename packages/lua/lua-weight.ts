import type { LuaExpression, LuaStatement } from './lua-syntax.ts'

/**
 * The parts of a statement that count as a step, so that a longer one costs as much as several
 * short ones.
 */
const partsPerStep = 8

/**
 * Returns how many steps a statement takes by itself, at least one: with the expressions it
 * evaluates, without its inner blocks and without what each turn of a loop evaluates. Computed when
 * the script is parsed.
 */
export function statementSteps(statement: LuaStatement): number {
  switch (statement.type) {
    case 'call-statement':
      return stepsOf([statement.call])
    case 'local-statement':
      return stepsOf(statement.values, statement.slots.length)
    case 'assign':
      return stepsOf([...statement.places, ...statement.values], statement.places.length)
    case 'if':
      return stepsOf(statement.clauses.map(({ condition }) => condition))
    case 'for':
      return stepsOf([statement.from, statement.to, ...(statement.by ? [statement.by] : [])])
    case 'for-in':
    case 'return':
      return stepsOf(statement.values)
    case 'local-function':
      return stepsOf([], statement.proto.captures.length)
    case 'do':
    case 'while':
    case 'repeat':
    case 'break':
      return 1
  }
}

/** Returns the steps that evaluating these takes, and as many for each of `others`; at least one. */
export function stepsOf(expressions: readonly LuaExpression[], others = 0): number {
  const parts = expressions.reduce((sum, each) => sum + partsOf(each), others)
  return 1 + Math.floor(parts / partsPerStep)
}

/** A function in it counts as created, not as called. */
function partsOf(expression: LuaExpression): number {
  switch (expression.type) {
    case 'constant':
    case 'varargs':
    case 'local':
    case 'captured':
    case 'global':
      return 1
    case 'function':
      return 1 + expression.proto.captures.length
    case 'parens':
      return partsOf(expression.inner)
    case 'not':
    case 'minus':
    case 'length':
      return 1 + partsOf(expression.operand)
    case 'and':
    case 'or':
    case 'binary':
      return 1 + partsOf(expression.left) + partsOf(expression.right)
    case 'index':
      return 1 + partsOf(expression.object) + partsOf(expression.key)
    case 'call':
      return sumOf([expression.callee, ...expression.args])
    case 'table':
      return sumOf(
        expression.fields.flatMap(({ key, value }) => (key === undefined ? [value] : [key, value])),
      )
  }
}

function sumOf(expressions: readonly LuaExpression[]): number {
  return expressions.reduce((sum, each) => sum + partsOf(each), 1)
}
