/** Reads the string and template literals of TypeScript, by their place in the source. */

export interface SourceText {
  /** The literal without its quotes, as it stands in the source. `…` stands for each `${}` of a template. */
  readonly text: string
  /** The index of its opening quote. */
  readonly at: number
  /** The index behind its closing quote. */
  readonly end: number
  /** The code before the literal, up to 80 characters. */
  readonly before: string
}

const trivia = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const quoted = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y
const regex = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
/** A slash behind one of these begins a regular expression; behind anything else it divides. */
const operand = /(?:^|[=(,:;!&|?{}[+<>~%*^-]|\b(?:return|typeof|case|in|of|await))\s*$/

/** Lists all literals of a source, the ones inside of templates too, in the order of their ends. */
export function sourceTexts(source: string): SourceText[] {
  const found: SourceText[] = []
  const add = (at: number, end: number, text: string): void => {
    found.push({ text, at, end, before: source.slice(Math.max(0, at - 80), at) })
  }
  /** Reads code from an index to the brace that closes it, and returns the index behind that. */
  const readCode = (from: number): number => {
    let at = from
    for (let depth = 0; at < source.length;) {
      const sign = source[at]
      const behindTrivia = endOf(trivia, source, at)
      if (behindTrivia !== undefined) at = behindTrivia
      else if (sign === '`') at = readTemplate(at)
      else if (sign === "'" || sign === '"') {
        const end = endOf(quoted, source, at) ?? at + 1
        add(at, end, source.slice(at + 1, end - 1))
        at = end
      } else if (sign === '/' && operand.test(source.slice(Math.max(0, at - 20), at))) {
        at = endOf(regex, source, at) ?? at + 1
      } else {
        if (sign === '{') depth += 1
        if (sign === '}') depth -= 1
        at += 1
        if (depth < 0) return at
      }
    }
    return at
  }
  const readTemplate = (start: number): number => {
    let text = ''
    let at = start + 1
    while (at < source.length && source[at] !== '`') {
      if (source.startsWith('${', at)) {
        text += '…'
        at = readCode(at + 2)
      } else {
        const length = source[at] === '\\' ? 2 : 1
        text += source.slice(at, at + length)
        at += length
      }
    }
    add(start, at + 1, text)
    return at + 1
  }
  readCode(0)
  return found
}

function endOf(pattern: RegExp, source: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(source) ? pattern.lastIndex : undefined
}
