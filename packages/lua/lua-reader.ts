import type { LuaToken } from './lua-lexer.ts'
import type { LuaScope } from './lua-scope.ts'
import type { LuaBlock } from './lua-syntax.ts'
import { LuaError } from './lua-value.ts'
import { luaBounds } from './limits-table.ts'

const { nestingMax } = luaBounds.luaReader

/** Reads the tokens of a script, and tracks the function it is in. */
export class LuaReader {
  readonly #tokens: readonly LuaToken[]
  /** Reads the statements up to the word that ends them. */
  readonly readBlock: (reader: LuaReader) => LuaBlock
  scope: LuaScope
  #at = 0
  #nesting = 0

  constructor(
    tokens: readonly LuaToken[],
    scope: LuaScope,
    readBlock: (reader: LuaReader) => LuaBlock,
  ) {
    this.#tokens = tokens
    this.scope = scope
    this.readBlock = readBlock
  }

  get token(): LuaToken {
    const token = this.#tokens[this.#at]
    if (token === undefined) throw new LuaError('unexpected end')
    return token
  }

  /** Returns the token after that; the last one stays. */
  get following(): LuaToken {
    return this.#tokens[this.#at + 1] ?? this.token
  }

  take(): LuaToken {
    const { token } = this
    if (token.kind !== 'end') this.#at += 1
    return token
  }

  is(text: string): boolean {
    const { token } = this
    return (token.kind === 'symbol' || token.kind === 'word') && token.text === text
  }

  accept(text: string): boolean {
    if (!this.is(text)) return false
    this.take()
    return true
  }

  expect(text: string): void {
    if (!this.accept(text)) throw this.error(`'${text}' expected`)
  }

  expectName(): string {
    if (this.token.kind !== 'name') throw this.error('name expected')
    return this.take().text
  }

  error(what: string): LuaError {
    return new LuaError(`line ${this.token.line}: ${what} near '${this.token.text}'`)
  }

  nested<Result>(read: () => Result): Result {
    this.#nesting += 1
    if (this.#nesting > nestingMax) throw this.error(`nested more than ${nestingMax} deep`)
    const result = read()
    this.#nesting -= 1
    return result
  }
}
