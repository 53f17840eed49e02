import { CelUint, type CelValue } from '../language/cel-value.ts'
import type { Expr, MapEntry, StructField } from './expr.ts'
import { lex, type Token } from './lexer.ts'
import { bytesOfLiteral, textOfLiteral } from './literals.ts'
import { expandMacro, type MacroGroup } from './macros.ts'
import { compileError, type Problem } from './source.ts'
import { celBounds } from '../limits-table.ts'

const parserLimits = celBounds.parser

/** Throws CelCompileError. */
export function parse(text: string, macros: ReadonlySet<MacroGroup>): Expr {
  if (text.length > parserLimits.textLengthMax) {
    const message = `expression code point size exceeds limit: size: ${text.length}, limit ${parserLimits.textLengthMax}`
    throw compileError('', [{ at: 0, message }])
  }
  const { tokens, problems } = lex(text)
  const parser = new Parser(tokens, macros)
  try {
    const expr = parser.whole()
    const all = [...problems, ...parser.problems]
    if (all.length > 0) throw compileError(text, all)
    return expr
  } catch (error) {
    if (!(error instanceof ParseStop)) throw error
    throw compileError(text, [...problems, ...parser.problems, error.problem])
  }
}

class ParseStop extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

const literals = `'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER`
/** The tokens that are valid at the start, and after an opening bracket. */
const starts = Object.freeze({
  any: `'[', '{', '(', '.', '-', '!', ${literals}`,
  '(': `'[', '{', '(', ')', '.', '-', '!', ${literals}`,
  '[': `'[', ']', '{', '(', '.', ',', '-', '!', '?', ${literals}`,
  '{': `'[', '{', '}', '(', '.', ',', '-', '!', '?', ${literals}`,
  index: `'[', '{', '(', '.', '-', '!', '?', ${literals}`,
})

const afterOperands: ReadonlySet<string> = new Set(
  '== != in < <= >= > && || + - * / % ?'.split(' '),
)

function startsOperand({ kind, text }: Token): boolean {
  return kind === 'symbol'
    ? ['[', '{', '(', '.', '-', '!'].includes(text)
    : kind !== 'end' && text !== 'in'
}

const reserved: ReadonlySet<string> = new Set(
  `as break const continue else false for function if import in let loop package namespace null
  return true var void while`.split(/\s+/),
)

const relations: Readonly<Record<string, string>> = Object.freeze({
  '<': '_<_',
  '<=': '_<=_',
  '>': '_>_',
  '>=': '_>=_',
  '==': '_==_',
  '!=': '_!=_',
  in: '@in',
})

/** Parses by recursive descent and stops at the first error. */
class Parser {
  readonly #tokens: readonly Token[]
  readonly #macros: ReadonlySet<MacroGroup>
  readonly problems: Problem[] = []
  #next = 0
  /** The last opened bracket, identified by the token after it. */
  #opened: { next: number; by: keyof typeof starts } = { next: -1, by: 'any' }
  #depth = 0

  constructor(tokens: readonly Token[], macros: ReadonlySet<MacroGroup>) {
    this.#tokens = tokens
    this.#macros = macros
  }

  whole(): Expr {
    const expr = this.#expr()
    if (this.#peek().kind !== 'end') {
      const isLast = this.#after().kind === 'end'
      this.#fail(
        `${isLast ? 'extraneous' : 'mismatched'} input '${this.#peek().text}' expecting <EOF>`,
      )
    }
    return expr
  }

  #peek(): Token {
    const token = this.#tokens[this.#next] ?? this.#tokens.at(-1)
    if (!token) throw new RangeError('Cannot parse: no token')
    return token
  }

  #after(): Token {
    return this.#tokens[this.#next + 1] ?? this.#peek()
  }

  #take(): Token {
    const token = this.#peek()
    this.#next += 1
    return token
  }

  #is(text: string): boolean {
    const { kind, text: found } = this.#peek()
    return (kind === 'symbol' || kind === 'ident') && found === text
  }

  #takeIf(text: string): Token | undefined {
    return this.#is(text) ? this.#take() : undefined
  }

  #expect(text: string, expecting = `'${text}'`): Token {
    const token = this.#takeIf(text)
    if (token) return token
    const { kind, text: found } = this.#peek()
    const canFollow =
      text === ':' ? startsOperand(this.#peek()) : kind === 'end' || afterOperands.has(found)
    if (expecting === `'${text}'` && canFollow) this.#fail(`missing '${text}' at '${found}'`)
    return this.#fail(`mismatched input '${found}' expecting ${expecting}`)
  }

  #fail(message: string, at = this.#peek().at): never {
    throw new ParseStop({ at, message: `Syntax error: ${message}` })
  }

  #expr(): Expr {
    this.#depth += 1
    this.#checkDepth(this.#depth)
    const condition = this.#balanced('||', '_||_', () =>
      this.#balanced('&&', '_&&_', () => this.#relation()),
    )
    const question = this.#takeIf('?')
    let expr = condition
    if (question) {
      const yes = this.#balanced('||', '_||_', () =>
        this.#balanced('&&', '_&&_', () => this.#relation()),
      )
      this.#expect(':')
      const no = this.#expr()
      expr = { kind: 'call', at: question.at, name: '_?_:_', args: [condition, yes, no] }
    }
    this.#depth -= 1
    return expr
  }

  #checkDepth(depth: number): void {
    if (depth <= parserLimits.depthMax) return
    const message = `expression recursion limit exceeded: ${parserLimits.depthMax}`
    throw new ParseStop({ at: this.#peek().at, message })
  }

  /** Parses a long chain to a balanced tree, so that it is not deep. */
  #balanced(symbol: string, name: string, operand: () => Expr): Expr {
    const terms = [operand()]
    const operators: Token[] = []
    for (let token = this.#takeIf(symbol); token; token = this.#takeIf(symbol)) {
      operators.push(token)
      terms.push(operand())
    }
    const build = (low: number, high: number): Expr => {
      const [only] = terms.slice(low, high)
      const middle = Math.floor((low + high) / 2)
      const operator = operators[middle - 1]
      if (high - low === 1 || !operator) return only ?? this.#fail('no term')
      return {
        kind: 'call',
        at: operator.at,
        name,
        args: [build(low, middle), build(middle, high)],
      }
    }
    return build(0, terms.length)
  }

  #relation(): Expr {
    let left = this.#sum()
    for (let length = 1; ; length += 1) {
      this.#checkDepth(length)
      const { kind, text, at } = this.#peek()
      const name = kind === 'symbol' || text === 'in' ? relations[text] : undefined
      if (name === undefined) return left
      this.#take()
      left = { kind: 'call', at, name, args: [left, this.#sum()] }
    }
  }

  #sum(): Expr {
    return this.#leftToRight(['+', '-'], () =>
      this.#leftToRight(['*', '/', '%'], () => this.#unary()),
    )
  }

  #leftToRight(symbols: readonly string[], operand: () => Expr): Expr {
    let left = operand()
    for (let length = 1; ; length += 1) {
      this.#checkDepth(length)
      const { kind, text, at } = this.#peek()
      if (kind !== 'symbol' || !symbols.includes(text)) return left
      this.#take()
      left = { kind: 'call', at, name: `_${text}_`, args: [left, operand()] }
    }
  }

  #unary(): Expr {
    const first = this.#peek()
    for (const [symbol, name] of [
      ['!', '!_'],
      ['-', '-_'],
    ] as const) {
      if (!this.#is(symbol)) continue
      if (symbol === '-' && this.#isNegativeNumber()) break
      let count = 0
      while (this.#takeIf(symbol)) count += 1
      const operand = this.#member()
      return count % 2 === 0 ? operand : { kind: 'call', at: first.at, name, args: [operand] }
    }
    return this.#member()
  }

  #isNegativeNumber(): boolean {
    const number = this.#tokens[this.#next + 1]
    return number?.kind === 'int' || number?.kind === 'float'
  }

  #member(): Expr {
    let expr = this.#primary()
    for (let length = 1; ; length += 1) {
      this.#checkDepth(length)
      if (this.#is('.')) expr = this.#selection(expr)
      else if (this.#is('[') || this.#is('[?')) expr = this.#index(expr)
      else return expr
    }
  }

  #selection(operand: Expr): Expr {
    const dot = this.#take()
    const question = this.#takeIf('?')
    const name = this.#take()
    if (name.kind === 'quoted' || name.kind === 'ident') {
      const field = name.kind === 'quoted' ? name.text.slice(1, -1) : name.text
      if (name.kind === 'ident' && isKeyword(field)) {
        this.#next -= 1
        if (field === 'in') this.#fail(`no viable alternative at input '.in'`)
        this.#fail(`mismatched input '${field}' expecting IDENTIFIER`)
      }
      if (question) {
        const text: Expr = { kind: 'literal', at: name.at, value: field }
        return { kind: 'call', at: dot.at, name: '_?._', args: [operand, text] }
      }
      const open = name.kind === 'ident' ? this.#takeIf('(') : undefined
      if (!open) return { kind: 'select', at: dot.at, operand, field, isTest: false }
      return this.#call({ name: field, at: open.at, target: operand })
    }
    this.#next -= 1
    if (question)
      this.#fail(`mismatched input '${name.text}' expecting {IDENTIFIER, ESC_IDENTIFIER}`)
    return this.#fail(`no viable alternative at input '.${name.kind === 'end' ? '' : name.text}'`)
  }

  #index(operand: Expr): Expr {
    const open = this.#take()
    this.#opened = { next: this.#next, by: open.text === '[?' ? 'any' : 'index' }
    const index = this.#expr()
    this.#expect(']')
    const name = open.text === '[?' ? '_[?_]' : '_[_]'
    return { kind: 'call', at: open.at, name, args: [operand, index] }
  }

  #call({ name, at, target }: { name: string; at: number; target?: Expr }): Expr {
    const args: Expr[] = []
    this.#opened = { next: this.#next, by: '(' }
    while (!this.#is(')')) {
      args.push(this.#expr())
      if (!this.#takeIf(',')) break
      if (this.#is(')')) this.#fail(`mismatched input ')' expecting {${starts.any}}`)
    }
    this.#expect(')')
    const call: Expr = { kind: 'call', at, name, target, args }
    return expandMacro(call, this.#macros, this.problems)
  }

  #primary(): Expr {
    const token = this.#peek()
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'float':
      case 'string':
      case 'bytes':
        return this.#literal()
      case 'ident':
        return this.#named()
      case 'symbol':
        return this.#bracketed()
      default:
        return this.#noOperand()
    }
  }

  /** Skips a surplus operator, so that the text after it is parsed, too. */
  #noOperand(): Expr {
    const { kind, text, at } = this.#peek()
    const expected = `expecting {${starts[this.#opened.next === this.#next ? this.#opened.by : 'any']}}`
    if (kind === 'end' || !startsOperand(this.#after())) {
      return this.#fail(`mismatched input '${text}' ${expected}`)
    }
    this.problems.push({ at, message: `Syntax error: extraneous input '${text}' ${expected}` })
    this.#take()
    return this.#primary()
  }

  #bracketed(): Expr {
    const { text, at } = this.#peek()
    if (text === '-') return this.#literal()
    if (text === '.') {
      this.#take()
      return this.#named('.')
    }
    if (text === '(') {
      this.#take()
      const expr = this.#expr()
      this.#expect(')')
      return expr
    }
    if (text === '[') return this.#list()
    if (text === '[?') return this.#list()
    if (text === '{') {
      this.#take()
      return { kind: 'map', at, entries: this.#entries() }
    }
    return this.#noOperand()
  }

  #literal(): Expr {
    const minus = this.#takeIf('-')
    const token = this.#take()
    const at = minus?.at ?? token.at
    return { kind: 'literal', at, value: this.#literalValue(token, minus ? '-' : '') }
  }

  #literalValue(token: Token, sign: '' | '-'): CelValue {
    const { kind, text, at } = token
    try {
      if (kind === 'string') return textOfLiteral(text)
      if (kind === 'bytes') return bytesOfLiteral(text)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      this.problems.push({ at, message: `Syntax error: token recognition error at: '${text}'` })
      return ''
    }
    if (kind === 'float') return Number(sign + text)
    if (kind === 'uint') {
      const value = BigInt(text.slice(0, -1))
      if (value >= 1n << 64n) this.problems.push({ at, message: 'invalid uint literal' })
      return new CelUint(value)
    }
    const value = sign === '-' ? -BigInt(text) : BigInt(text)
    if (BigInt.asIntN(64, value) !== value)
      this.problems.push({ at, message: 'invalid int literal' })
    return value
  }

  #list(): Expr {
    const open = this.#take()
    const elements: Expr[] = []
    const optionals = new Set<number>()
    let isOptional = open.text === '[?'
    this.#opened = { next: this.#next, by: isOptional ? 'any' : '[' }
    while (isOptional || !this.#is(']')) {
      if (!isOptional && this.#takeIf('?')) isOptional = true
      if (isOptional) optionals.add(elements.length)
      isOptional = false
      elements.push(this.#expr())
      if (!this.#takeIf(',')) break
    }
    this.#expect(']', `{']', ','}`)
    return { kind: 'list', at: open.at, elements, optionals }
  }

  #entries(): MapEntry[] {
    const entries: MapEntry[] = []
    this.#opened = { next: this.#next, by: '{' }
    while (!this.#is('}')) {
      const isOptional = this.#takeIf('?') !== undefined
      const key = this.#expr()
      this.#expect(':')
      entries.push({ key, value: this.#expr(), isOptional })
      if (!this.#takeIf(',')) break
    }
    this.#expect('}', `{'}', ','}`)
    return entries
  }

  #named(leadingDot = ''): Expr {
    const token = this.#take()
    const { text, at } = token
    if (token.kind !== 'ident') {
      this.#next -= 1
      return this.#fail(`mismatched input '${text}' expecting IDENTIFIER`)
    }
    if (leadingDot === '' && Object.hasOwn(words, text)) {
      return { kind: 'literal', at, value: words[text] ?? null }
    }
    if (isKeyword(text)) {
      this.#next -= 1
      return this.#noOperand()
    }
    if (reserved.has(text)) {
      this.problems.push({ at, message: `reserved identifier: ${text}` })
    }
    const open = this.#takeIf('(')
    if (open) return this.#call({ name: leadingDot + text, at: open.at })
    const struct = this.#structAt(leadingDot + text)
    return struct ?? { kind: 'ident', at, name: leadingDot + text }
  }

  /** Parses `a.b.C{...}`: only the brace after the names distinguishes it from a selection. */
  #structAt(first: string): Expr | undefined {
    const start = this.#next
    let name = first
    while (this.#is('.') && this.#tokens[this.#next + 1]?.kind === 'ident') {
      this.#take()
      name += `.${this.#take().text}`
    }
    const open = this.#takeIf('{')
    if (!open) {
      this.#next = start
      return undefined
    }
    const fields: StructField[] = []
    while (!this.#is('}')) {
      const isOptional = this.#takeIf('?') !== undefined
      const field = this.#take()
      if (field.kind !== 'ident' && field.kind !== 'quoted') {
        this.#next -= 1
        this.#fail(
          `mismatched input '${field.text}' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}`,
        )
      }
      const colon = this.#expect(':')
      const text = field.kind === 'quoted' ? field.text.slice(1, -1) : field.text
      fields.push({ at: colon.at, name: text, value: this.#expr(), isOptional })
      if (!this.#takeIf(',')) break
    }
    this.#expect('}', `{'}', ','}`)
    return { kind: 'struct', at: open.at, typeName: name, fields }
  }
}

const words: Readonly<Record<string, CelValue>> = Object.freeze({
  true: true,
  false: false,
  null: null,
})

function isKeyword(text: string): boolean {
  return text === 'in' || Object.hasOwn(words, text)
}
