/** A token in the text of a label selector. */
export interface Token {
  readonly type: 'word' | '=' | '==' | '!=' | '!' | '>' | '<' | '(' | ')' | ',' | 'end'
  readonly text: string
}

type Mark = Exclude<Token['type'], 'word' | 'end'>

const symbols: ReadonlySet<string> = new Set<Mark>(['=', '==', '!=', '!', '>', '<', '(', ')', ','])

/** Always ends with an `end` token. Takes linear time. */
export function scanSelector(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at] ?? ''
    if (isSpace(char)) {
      at += 1
    } else if (symbols.has(char)) {
      const symbol = symbolAt(text, at)
      tokens.push({ type: symbol, text: symbol })
      at += symbol.length
    } else {
      const end = wordEnd(text, at)
      tokens.push({ type: 'word', text: text.slice(at, end) })
      at = end
    }
  }
  tokens.push({ type: 'end', text: '' })
  return tokens
}

function symbolAt(text: string, at: number): Mark {
  const two = text.slice(at, at + 2)
  if (isSymbol(two)) return two
  const one = text[at] ?? ''
  if (isSymbol(one)) return one
  throw new RangeError(`Cannot scan selector: no symbol at ${at}`)
}

function isSymbol(text: string): text is Mark {
  return symbols.has(text)
}

function wordEnd(text: string, from: number): number {
  let at = from
  while (at < text.length && !isSpace(text[at] ?? '') && !symbols.has(text[at] ?? '')) at += 1
  return at
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n'
}
