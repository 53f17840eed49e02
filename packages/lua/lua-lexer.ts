import { LuaError, numberOf } from './lua-value.ts'

export interface LuaToken {
  readonly kind: 'name' | 'number' | 'text' | 'symbol' | 'word' | 'end'
  /** The token's text; for a literal text, its content without quotes. */
  readonly text: string
  readonly line: number
}

/** The reserved words (Lua 5.1, section 2.1). */
const words: ReadonlySet<string> = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)

const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y
const numberPattern = /0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const symbolPattern = /\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}[\];:,.]/y
const spacePattern = /[ \t\v\f\r]+/y
const longBracket = /\[(=*)\[/y

/** Throws a LuaError that names the line. */
export function tokensOf(script: string): LuaToken[] {
  const lexer = new Lexer(script)
  const tokens: LuaToken[] = []
  for (;;) {
    const token = lexer.next()
    tokens.push(token)
    if (token.kind === 'end') return tokens
  }
}

class Lexer {
  readonly #script: string
  #at = 0
  #line = 1

  constructor(script: string) {
    this.#script = script
  }

  next(): LuaToken {
    this.#skip()
    const line = this.#line
    const first = this.#script[this.#at]
    if (first === undefined) return { kind: 'end', text: '<eof>', line }
    if (first === '"' || first === "'") return { kind: 'text', text: this.#quoted(first), line }
    const long = this.#longText()
    if (long !== undefined) return { kind: 'text', text: long, line }
    const name = this.#take(namePattern)
    if (name !== undefined) return { kind: words.has(name) ? 'word' : 'name', text: name, line }
    if (/[0-9]/.test(first) || (first === '.' && /[0-9]/.test(this.#script[this.#at + 1] ?? ''))) {
      return { kind: 'number', text: this.#number(), line }
    }
    const symbol = this.#take(symbolPattern)
    if (symbol !== undefined) return { kind: 'symbol', text: symbol, line }
    throw this.#error(`unexpected symbol near '${first}'`)
  }

  #error(what: string): LuaError {
    return new LuaError(`line ${this.#line}: ${what}`)
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#script)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #skip(): void {
    for (;;) {
      if (this.#take(spacePattern) !== undefined) continue
      if (this.#script[this.#at] === '\n') {
        this.#at += 1
        this.#line += 1
      } else if (this.#script.startsWith('--', this.#at)) {
        this.#at += 2
        if (this.#longText() === undefined) this.#toLineEnd()
      } else {
        return
      }
    }
  }

  #toLineEnd(): void {
    const end = this.#script.indexOf('\n', this.#at)
    this.#at = end === -1 ? this.#script.length : end
  }

  #number(): string {
    const text = this.#take(numberPattern) ?? ''
    const rest = this.#take(namePattern)
    if (rest !== undefined || numberOf(text) === undefined) {
      throw this.#error(`malformed number near '${text}${rest ?? ''}'`)
    }
    return text
  }

  /** Reads `[[...]]` or `[==[...]==]`; a line end right after the bracket is skipped. */
  #longText(): string | undefined {
    longBracket.lastIndex = this.#at
    const opened = longBracket.exec(this.#script)
    if (opened === null) return undefined
    const close = `]${opened[1] ?? ''}]`
    const start = this.#at + opened[0].length
    const end = this.#script.indexOf(close, start)
    if (end === -1) throw this.#error('unfinished long string or comment')
    const text = this.#script.slice(start, end)
    this.#at = end + close.length
    this.#line += text.split('\n').length - 1
    return text.replace(/^\r?\n/, '')
  }

  #quoted(quote: string): string {
    this.#at += 1
    let text = ''
    for (;;) {
      const char = this.#script[this.#at]
      if (char === undefined || char === '\n') throw this.#error('unfinished string')
      this.#at += 1
      if (char === quote) return text
      text += char === '\\' ? this.#escaped() : char
    }
  }

  #escaped(): string {
    const char = this.#script[this.#at] ?? ''
    this.#at += 1
    if (char === '\n') this.#line += 1
    const code = /\d/.test(char)
      ? /^\d{1,3}/.exec(this.#script.slice(this.#at - 1, this.#at + 2))
      : null
    if (code === null) return escapes[char] ?? char
    this.#at += code[0].length - 1
    if (Number(code[0]) > 255) throw this.#error('escape sequence too large')
    return String.fromCharCode(Number(code[0]))
  }
}

const escapes: Readonly<Record<string, string>> = Object.freeze({
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
})
