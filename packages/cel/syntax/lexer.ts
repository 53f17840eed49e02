import type { Problem } from './source.ts'

export type TokenKind =
  | 'int'
  | 'uint'
  | 'float'
  | 'string'
  | 'bytes'
  | 'ident'
  | 'quoted'
  | 'symbol'
  | 'end'

export interface Token {
  readonly kind: TokenKind
  readonly at: number
  /** The text as written. */
  readonly text: string
}

const raw = String.raw`(?:"""[^]*?"""|'''[^]*?'''|"[^"\r\n]*"|'[^'\r\n]*')`
const cooked = String.raw`(?:"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\[^\r\n]|[^\\"\r\n])*"|'(?:\\[^\r\n]|[^\\'\r\n])*')`

const space = /(?:[ \t\r\n\f]+|\/\/[^\n]*)+/y
const patterns: readonly (readonly [TokenKind, RegExp])[] = [
  ['float', /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y],
  ['uint', /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ['int', /(?:0x[0-9a-fA-F]+|\d+)/y],
  ['bytes', new RegExp(`(?:(?:[bB][rR]|[rR][bB])${raw}|[bB]${cooked})`, 'y')],
  ['string', new RegExp(`(?:[rR]${raw}|${cooked})`, 'y')],
  ['ident', /[_a-zA-Z][_a-zA-Z0-9]*/y],
  ['quoted', /`[a-zA-Z0-9_.\-/ ]+`/y],
  ['symbol', /(?:==|!=|<=|>=|&&|\|\||\[\?|[-+*/%!?:.,()[\]{}<>])/y],
]

export interface Lexed {
  readonly tokens: readonly Token[]
  readonly problems: readonly Problem[]
}

export function lex(text: string): Lexed {
  const tokens: Token[] = []
  const problems: Problem[] = []
  let at = 0
  for (;;) {
    at += match(space, text, at)?.length ?? 0
    if (at >= text.length) break
    const token = tokenAt(text, at)
    if (token) {
      tokens.push(token)
      at += token.text.length
    } else {
      const wrong = String.fromCodePoint(text.codePointAt(at) ?? 0)
      // A wrong operator character is reported with the next character, as upstream.
      const width = /[=|&]/.test(wrong) ? 2 : wrong.length
      const shown = /["']/.test(wrong) ? text.slice(at) : text.slice(at, at + width)
      problems.push({ at, message: `Syntax error: token recognition error at: '${shown}'` })
      at += shown.length
    }
  }
  tokens.push({ kind: 'end', at: text.length, text: '<EOF>' })
  return { tokens, problems }
}

function tokenAt(text: string, at: number): Token | undefined {
  for (const [kind, pattern] of patterns) {
    const found = match(pattern, text, at)
    if (found !== undefined) return { kind, at, text: found }
  }
  return undefined
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
