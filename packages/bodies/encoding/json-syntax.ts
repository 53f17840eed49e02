import { quoteGo } from '@skerry/api'

const endOfInput = 'unexpected end of JSON input'
const utf8 = new TextEncoder()

/**
 * Returns the first mistake of a text that is not JSON (RFC 8259), in the words that upstream's
 * clients know. It parses the text itself, because each engine words the same mistake differently.
 */
export function jsonSyntaxError(text: string): string {
  try {
    new JsonReader(text).read()
    // Every character was correct, so the text is incomplete.
    return endOfInput
  } catch (error) {
    if (error instanceof JsonMistake) return error.message
    throw error
  }
}

class JsonMistake extends Error {
  override name = 'JsonMistake'
}

type Container = 'object' | 'array'

const space = new Set([' ', '\t', '\n', '\r'])
const escapes = new Set(['"', '\\', '/', 'b', 'f', 'n', 'r', 't'])
const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }

/** Keeps its own stack, because a text may nest deeper than the call stack allows. */
class JsonReader {
  readonly #text: string
  readonly #open: Container[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): void {
    this.#value()
    while (this.#open.length > 0) this.#afterValue()
    this.#skipSpace()
    if (this.#at < this.#text.length) throw this.#wrong('after top-level value')
  }

  /** Reads a scalar, or opens nested containers down to the first scalar or empty container. */
  #value(): void {
    for (;;) {
      this.#skipSpace()
      const char = this.#peek()
      if (char === '{') {
        this.#at += 1
        this.#open.push('object')
        this.#skipSpace()
        if (this.#peek() === '}') return
        this.#key()
      } else if (char === '[') {
        this.#at += 1
        this.#open.push('array')
        this.#skipSpace()
        if (this.#peek() === ']') return
      } else return this.#scalar(char)
    }
  }

  /** Reads the end of the innermost container, or a comma and the next value. */
  #afterValue(): void {
    const container = this.#open.at(-1)
    this.#skipSpace()
    const char = this.#peek()
    if (char === (container === 'object' ? '}' : ']')) {
      this.#at += 1
      this.#open.pop()
      return
    }
    if (char !== ',') {
      throw this.#wrong(
        container === 'object' ? 'after object key:value pair' : 'after array element',
      )
    }
    this.#at += 1
    if (container === 'object') this.#key()
    this.#value()
  }

  #key(): void {
    this.#skipSpace()
    if (this.#peek() !== '"') throw this.#wrong('looking for beginning of object key string')
    this.#string()
    this.#skipSpace()
    if (this.#peek() !== ':') throw this.#wrong('after object key')
    this.#at += 1
  }

  #scalar(char: string): void {
    if (char === '"') return this.#string()
    if (char === '-' || isDigit(char)) return this.#number()
    const literal = literals[char]
    if (literal === undefined) throw this.#wrong('looking for beginning of value')
    for (const expected of literal) {
      if (this.#peek() !== expected) {
        throw this.#wrong(`in literal ${literal} (expecting '${expected}')`)
      }
      this.#at += 1
    }
  }

  #string(): void {
    this.#at += 1
    for (;;) {
      const char = this.#peek()
      if (char < ' ') throw this.#wrong('in string literal')
      this.#at += 1
      if (char === '"') return
      if (char === '\\') this.#escape()
    }
  }

  #escape(): void {
    const char = this.#peek()
    if (char !== 'u' && !escapes.has(char)) throw this.#wrong('in string escape code')
    this.#at += 1
    if (char !== 'u') return
    for (let digits = 0; digits < 4; digits += 1) {
      if (!/^[0-9a-fA-F]$/.test(this.#peek())) {
        throw this.#wrong(String.raw`in \u hexadecimal character escape`)
      }
      this.#at += 1
    }
  }

  #number(): void {
    if (this.#peek() === '-') this.#at += 1
    if (this.#text[this.#at] === '0') this.#at += 1
    else this.#digits('in numeric literal')
    if (this.#text[this.#at] === '.') {
      this.#at += 1
      this.#digits('after decimal point in numeric literal')
    }
    if (/^[eE]$/.test(this.#text[this.#at] ?? '')) {
      this.#at += 1
      if (/^[-+]$/.test(this.#peek())) this.#at += 1
      this.#digits('in exponent of numeric literal')
    }
  }

  /** Reads at least one digit. */
  #digits(place: string): void {
    if (!isDigit(this.#peek())) throw this.#wrong(place)
    while (isDigit(this.#text[this.#at] ?? '')) this.#at += 1
  }

  #skipSpace(): void {
    while (space.has(this.#text[this.#at] ?? '')) this.#at += 1
  }

  #peek(): string {
    const char = this.#text[this.#at]
    if (char === undefined) throw new JsonMistake(endOfInput)
    return char
  }

  #wrong(place: string): JsonMistake {
    const [char = ''] = this.#text.slice(this.#at, this.#at + 2)
    return new JsonMistake(`invalid character ${quoted(char)} ${place}`)
  }
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9'
}

/** Upstream reads bytes, so it shows the first byte of a character as if that were the character. */
function quoted(char: string): string {
  if (char === "'") return String.raw`'\''`
  if (char === '"') return `'"'`
  const [byte = 0] = utf8.encode(char)
  return `'${quoteGo(String.fromCodePoint(byte)).slice(1, -1)}'`
}
