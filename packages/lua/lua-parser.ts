import { readExpression, readExpressions, readFunction, readSuffixed } from './lua-expressions.ts'
import { tokensOf } from './lua-lexer.ts'
import { LuaReader } from './lua-reader.ts'
import { LuaScope } from './lua-scope.ts'
import type { LuaBlock, LuaExpression, LuaPlace, LuaProto, LuaStatement } from './lua-syntax.ts'

/** Parses a script as a function without parameters. Throws a LuaError that names the line. */
export function parseLua(script: string): LuaProto {
  const scope = new LuaScope(undefined, true)
  const reader = new LuaReader(tokensOf(script), scope, readBlock)
  const body = readBlock(reader)
  if (reader.token.kind !== 'end') throw reader.error("'<eof>' expected")
  const { slotCount, captures } = scope
  return { name: 'script', parameters: [], hasVarargs: true, slotCount, captures, body }
}

const blockEnds: ReadonlySet<string> = new Set(['end', 'else', 'elseif', 'until'])

/** Reads a block. The caller that opened its scope closes it. */
function readBlock(reader: LuaReader): LuaBlock {
  const statements: LuaStatement[] = []
  for (;;) {
    const { kind, text } = reader.token
    if (kind === 'end' || (kind === 'word' && blockEnds.has(text))) return statements
    const statement = reader.nested(() => readStatement(reader))
    reader.accept(';')
    statements.push(statement)
    // Both are the last statement of their block.
    if (statement.type === 'return' || statement.type === 'break') return statements
  }
}

function inScope<Result>(reader: LuaReader, read: () => Result): Result {
  reader.scope.openBlock()
  const result = read()
  reader.scope.closeBlock()
  return result
}

function readScopedBlock(reader: LuaReader): LuaBlock {
  return inScope(reader, () => readBlock(reader))
}

function readStatement(reader: LuaReader): LuaStatement {
  const { kind, text } = reader.token
  const read = kind === 'word' ? statements[text] : undefined
  return read === undefined ? readAssignmentOrCall(reader) : read(reader)
}

type ReadStatement = (reader: LuaReader) => LuaStatement

const statements: Readonly<Record<string, ReadStatement>> = Object.freeze<
  Record<string, ReadStatement>
>({
  do(reader: LuaReader) {
    reader.take()
    const body = readScopedBlock(reader)
    reader.expect('end')
    return { type: 'do', body }
  },
  while(reader: LuaReader) {
    reader.take()
    const condition = readExpression(reader)
    reader.expect('do')
    const body = readLoop(reader)
    reader.expect('end')
    return { type: 'while', condition, body }
  },
  repeat: readRepeat,
  if: readIf,
  for: readFor,
  function: readFunctionStatement,
  local: readLocal,
  return(reader: LuaReader) {
    reader.take()
    const { kind, text } = reader.token
    const isBare = kind === 'end' || reader.is(';') || (kind === 'word' && blockEnds.has(text))
    return { type: 'return', values: isBare ? [] : readExpressions(reader) }
  },
  break(reader: LuaReader) {
    if (reader.scope.loops === 0) throw reader.error('no loop to break')
    reader.take()
    return { type: 'break' }
  },
})

function readLoop(reader: LuaReader): LuaBlock {
  reader.scope.loops += 1
  const body = readScopedBlock(reader)
  reader.scope.loops -= 1
  return body
}

/** The condition sees the locals of the body. */
function readRepeat(reader: LuaReader): LuaStatement {
  reader.take()
  return inScope(reader, () => {
    reader.scope.loops += 1
    const body = readBlock(reader)
    reader.scope.loops -= 1
    reader.expect('until')
    return { type: 'repeat', body, until: readExpression(reader) }
  })
}

function readIf(reader: LuaReader): LuaStatement {
  const clauses: { condition: LuaExpression; body: LuaBlock }[] = []
  do {
    reader.take()
    const condition = readExpression(reader)
    reader.expect('then')
    clauses.push({ condition, body: readScopedBlock(reader) })
  } while (reader.is('elseif'))
  const otherwise = reader.accept('else') ? readScopedBlock(reader) : undefined
  reader.expect('end')
  return { type: 'if', clauses, ...(otherwise ? { otherwise } : {}) }
}

function readFor(reader: LuaReader): LuaStatement {
  const { line } = reader.take()
  const names = [reader.expectName()]
  if (reader.accept('=')) return readCountingFor(reader, names[0] ?? '', line)
  while (reader.accept(',')) names.push(reader.expectName())
  reader.expect('in')
  const values = readExpressions(reader)
  reader.expect('do')
  return inScope(reader, () => {
    const slots = names.map((name) => reader.scope.declare(name))
    const body = readLoop(reader)
    reader.expect('end')
    return { type: 'for-in', slots, values, body, line }
  })
}

function readCountingFor(reader: LuaReader, name: string, line: number): LuaStatement {
  const from = readExpression(reader)
  reader.expect(',')
  const to = readExpression(reader)
  const by = reader.accept(',') ? readExpression(reader) : undefined
  reader.expect('do')
  return inScope(reader, () => {
    const slot = reader.scope.declare(name)
    const body = readLoop(reader)
    reader.expect('end')
    return { type: 'for', slot, from, to, ...(by ? { by } : {}), body, line }
  })
}

function readFunctionStatement(reader: LuaReader): LuaStatement {
  const { line } = reader.take()
  let name = reader.expectName()
  let place: LuaPlace = reader.scope.resolve(name)
  let isMethod = false
  while (!isMethod && (reader.is('.') || reader.is(':'))) {
    isMethod = reader.take().text === ':'
    name = reader.expectName()
    place = { type: 'index', object: place, key: { type: 'constant', value: name }, line }
  }
  const proto = readFunction(reader, { name, isMethod })
  return { type: 'assign', places: [place], values: [{ type: 'function', proto }] }
}

function readLocal(reader: LuaReader): LuaStatement {
  reader.take()
  if (reader.accept('function')) {
    const name = reader.expectName()
    const slot = reader.scope.declare(name)
    return { type: 'local-function', slot, proto: readFunction(reader, { name }) }
  }
  const names = [reader.expectName()]
  while (reader.accept(',')) names.push(reader.expectName())
  const values = reader.accept('=') ? readExpressions(reader) : []
  // The names are declared last, because the values on the right refer to earlier ones.
  return { type: 'local-statement', slots: names.map((each) => reader.scope.declare(each)), values }
}

function readAssignmentOrCall(reader: LuaReader): LuaStatement {
  const first = readSuffixed(reader)
  if (first.type === 'call') return { type: 'call-statement', call: first }
  const places = [placeOf(reader, first)]
  while (reader.accept(',')) places.push(placeOf(reader, readSuffixed(reader)))
  reader.expect('=')
  return { type: 'assign', places, values: readExpressions(reader) }
}

function placeOf(reader: LuaReader, expression: LuaExpression): LuaPlace {
  switch (expression.type) {
    case 'local':
    case 'captured':
    case 'global':
    case 'index':
      return expression
    default:
      throw reader.error('syntax error')
  }
}
