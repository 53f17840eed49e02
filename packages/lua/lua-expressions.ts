import type { LuaReader } from './lua-reader.ts'
import { LuaScope } from './lua-scope.ts'
import type {
  LuaBinaryOperator,
  LuaCall,
  LuaExpression,
  LuaField,
  LuaPlace,
  LuaProto,
} from './lua-syntax.ts'
import { numberOf } from './lua-value.ts'
import { luaBounds } from './limits-table.ts'

interface Priority {
  readonly left: number
  /** A right priority below the left one groups to the right. */
  readonly right: number
}

/** Section 2.5.6 of the manual. */
const priorities: Readonly<Record<LuaBinaryOperator | 'and' | 'or', Priority>> = Object.freeze({
  or: { left: 1, right: 1 },
  and: { left: 2, right: 2 },
  '<': { left: 3, right: 3 },
  '>': { left: 3, right: 3 },
  '<=': { left: 3, right: 3 },
  '>=': { left: 3, right: 3 },
  '~=': { left: 3, right: 3 },
  '==': { left: 3, right: 3 },
  '..': { left: 5, right: 4 },
  '+': { left: 6, right: 6 },
  '-': { left: 6, right: 6 },
  '*': { left: 7, right: 7 },
  '/': { left: 7, right: 7 },
  '%': { left: 7, right: 7 },
  '^': { left: 10, right: 9 },
})
const unaryPriority = 8

const { chainMax } = luaBounds.luaExpressions

export function readExpressions(reader: LuaReader): LuaExpression[] {
  const found = [readExpression(reader)]
  while (reader.accept(',')) found.push(readExpression(reader))
  return found
}

export function readExpression(reader: LuaReader, above = 0): LuaExpression {
  return reader.nested(() => {
    let left = readUnary(reader)
    for (let count = 0; ; count += 1) {
      if (count > chainMax) throw reader.error('too many operators in a row')
      const operator = operatorAt(reader)
      if (operator === undefined || priorities[operator].left <= above) return left
      const { line } = reader.take()
      const right = readExpression(reader, priorities[operator].right)
      left =
        operator === 'and' || operator === 'or'
          ? { type: operator, left, right }
          : { type: 'binary', operator, left, right, line }
    }
  })
}

function operatorAt({ token }: LuaReader): keyof typeof priorities | undefined {
  if (token.kind !== 'symbol' && token.kind !== 'word') return undefined
  // Each own key of the table is one of its operators.
  return Object.hasOwn(priorities, token.text) ? (token.text as keyof typeof priorities) : undefined
}

function readUnary(reader: LuaReader): LuaExpression {
  const { line } = reader.token
  if (reader.accept('not')) return { type: 'not', operand: readExpression(reader, unaryPriority) }
  if (reader.accept('-')) {
    return { type: 'minus', operand: readExpression(reader, unaryPriority), line }
  }
  if (reader.accept('#')) {
    return { type: 'length', operand: readExpression(reader, unaryPriority), line }
  }
  return readSimple(reader)
}

function readSimple(reader: LuaReader): LuaExpression {
  const { kind, text, line } = reader.token
  if (kind === 'number') return { type: 'constant', value: numberOf(reader.take().text) }
  if (kind === 'text') return { type: 'constant', value: reader.take().text }
  if (reader.accept('nil')) return { type: 'constant', value: undefined }
  if (reader.accept('true')) return { type: 'constant', value: true }
  if (reader.accept('false')) return { type: 'constant', value: false }
  if (reader.is('...')) {
    if (!reader.scope.hasVarargs) {
      throw reader.error("cannot use '...' outside a function that has it")
    }
    reader.take()
    return { type: 'varargs' }
  }
  if (reader.is('{')) return readTable(reader)
  if (kind === 'word' && text === 'function') {
    reader.take()
    return { type: 'function', proto: readFunction(reader, { name: `line ${line}` }) }
  }
  return readSuffixed(reader)
}

/** Reads a name or an expression in parentheses, with its calls and lookups. */
export function readSuffixed(reader: LuaReader): LuaExpression {
  let found = readPrimary(reader)
  for (let count = 0; ; count += 1) {
    if (count > chainMax) throw reader.error('too many calls and fields in a row')
    const next = readSuffix(reader, found)
    if (next === undefined) return found
    found = next
  }
}

function readPrimary(reader: LuaReader): LuaExpression {
  if (reader.token.kind === 'name') return reader.scope.resolve(reader.take().text)
  if (!reader.accept('(')) throw reader.error('unexpected symbol')
  const inner = readExpression(reader)
  reader.expect(')')
  return { type: 'parens', inner }
}

function readSuffix(reader: LuaReader, object: LuaExpression): LuaCall | LuaPlace | undefined {
  const { line, kind } = reader.token
  if (reader.accept('.')) {
    return { type: 'index', object, key: { type: 'constant', value: reader.expectName() }, line }
  }
  if (reader.accept('[')) {
    const key = readExpression(reader)
    reader.expect(']')
    return { type: 'index', object, key, line }
  }
  if (reader.accept(':')) {
    const method = reader.expectName()
    return { type: 'call', callee: object, method, args: readArguments(reader), line }
  }
  if (kind === 'text' || reader.is('(') || reader.is('{')) {
    return { type: 'call', callee: object, args: readArguments(reader), line }
  }
  return undefined
}

function readArguments(reader: LuaReader): LuaExpression[] {
  if (reader.token.kind === 'text') return [{ type: 'constant', value: reader.take().text }]
  if (reader.is('{')) return [readTable(reader)]
  reader.expect('(')
  if (reader.accept(')')) return []
  const args = readExpressions(reader)
  reader.expect(')')
  return args
}

function readTable(reader: LuaReader): LuaExpression {
  reader.expect('{')
  const fields: LuaField[] = []
  while (!reader.is('}')) {
    fields.push(readField(reader))
    if (!reader.accept(',') && !reader.accept(';')) break
  }
  reader.expect('}')
  return { type: 'table', fields }
}

function readField(reader: LuaReader): LuaField {
  if (reader.accept('[')) {
    const key = readExpression(reader)
    reader.expect(']')
    reader.expect('=')
    return { key, value: readExpression(reader) }
  }
  const { following } = reader
  if (reader.token.kind === 'name' && following.kind === 'symbol' && following.text === '=') {
    const key: LuaExpression = { type: 'constant', value: reader.expectName() }
    reader.expect('=')
    return { key, value: readExpression(reader) }
  }
  return { value: readExpression(reader) }
}

export interface FunctionHead {
  readonly name: string
  /** True for `function object:method()`, whose first parameter is the object. */
  readonly isMethod?: boolean
}

/** Reads a function from its parameters to its end. */
export function readFunction(
  reader: LuaReader,
  { name, isMethod = false }: FunctionHead,
): LuaProto {
  const around = reader.scope
  const names = isMethod ? ['self'] : []
  const hasVarargs = readParameters(reader, names)
  const scope = new LuaScope(around, hasVarargs)
  reader.scope = scope
  const parameters = names.map((each) => scope.declare(each))
  const body = reader.nested(() => reader.readBlock(reader))
  reader.expect('end')
  reader.scope = around
  return {
    name,
    parameters,
    hasVarargs,
    slotCount: scope.slotCount,
    captures: scope.captures,
    body,
  }
}

/** Adds to the names. Returns true if the list ends with `...`. */
function readParameters(reader: LuaReader, names: string[]): boolean {
  reader.expect('(')
  if (reader.accept(')')) return false
  do {
    if (reader.accept('...')) {
      reader.expect(')')
      return true
    }
    names.push(reader.expectName())
  } while (reader.accept(','))
  reader.expect(')')
  return false
}
