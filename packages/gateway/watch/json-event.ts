import { isJsonObject } from '@skerry/api'
import { initialEndAnnotation, type EventHead } from './event-head.ts'

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

/**
 * Reads `{"type":…,"object":{…,"metadata":{…,"resourceVersion":…}}}`. It does not parse whole objects: these
 * fields are mostly within the first kilobyte, and parsing everything would cost more than the tunnel does.
 */
export function readJsonHead(frame: Buffer): EventHead | undefined {
  const scan = new Scan(frame)
  let type: string | undefined
  let version: string | undefined
  // While the type is unknown, it may follow after the object.
  const isEnough = (): boolean => type !== undefined && version !== undefined
  const readMetadata = (): void =>
    scan.eachMember((name) => {
      if (name === 'resourceVersion') version = scan.string()
      else scan.skip()
      return isEnough()
    })
  const readObject = (): void =>
    scan.eachMember((name) => {
      if (name === 'metadata') readMetadata()
      else scan.skip()
      return isEnough()
    })
  scan.eachMember((name) => {
    if (name === 'type') type = scan.string()
    else if (name === 'object') readObject()
    else scan.skip()
    return isEnough()
  })
  if (scan.isBroken || type === undefined) return undefined
  const head = version === undefined ? { type } : { type, version }
  return { ...head, isInitialEnd: type === 'BOOKMARK' && isInitialEnd(frame) }
}

/** Parses the whole frame, because bookmarks are small. */
function isInitialEnd(frame: Buffer): boolean {
  try {
    const event: unknown = JSON.parse(frame.toString('utf8'))
    const object = isJsonObject(event) ? event['object'] : undefined
    const metadata = isJsonObject(object) ? object['metadata'] : undefined
    const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined
    return isJsonObject(annotations) && annotations[initialEndAnnotation] === 'true'
  } catch {
    // A partial event is not the end.
    return false
  }
}

/** Scans JSON from the front, as far as it is asked to. */
class Scan {
  readonly #bytes: Buffer
  #at = 0
  isBroken = false

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /**
   * Calls back for each member of the object that begins here; the callback reads or skips the value, and
   * returns true to stop.
   */
  eachMember(onMember: (name: string) => boolean): void {
    if (this.#next() !== openBrace) return this.#break()
    this.#at += 1
    if (this.#next() === closeBrace) {
      this.#at += 1
      return
    }
    for (;;) {
      const name = this.string()
      if (name === undefined || this.#next() !== colon) return this.#break()
      this.#at += 1
      if (onMember(name) || this.isBroken) return
      const after = this.#next()
      this.#at += 1
      if (after === closeBrace) return
      if (after !== comma) return this.#break()
    }
  }

  /** Returns undefined if the value is not a string, and skips it. */
  string(): string | undefined {
    if (this.#next() !== quote) {
      this.skip()
      return undefined
    }
    const start = this.#at
    this.#skipString()
    if (this.isBroken) return undefined
    const text = this.#bytes.toString('utf8', start + 1, this.#at - 1)
    return text.includes('\\') ? unescaped(`"${text}"`) : text
  }

  skip(): void {
    let depth = 0
    do {
      const byte = this.#next()
      if (byte === undefined) return this.#break()
      if (byte === quote) this.#skipString()
      else if (byte === openBrace || byte === openBracket) {
        depth += 1
        this.#at += 1
      } else if (byte === closeBrace || byte === closeBracket) {
        if (depth === 0) return this.#break()
        depth -= 1
        this.#at += 1
      } else if (byte === comma || byte === colon) {
        if (depth === 0) return this.#break()
        this.#at += 1
      } else this.#skipLiteral()
    } while (depth > 0 && !this.isBroken)
  }

  /** Returns the next byte that is not white space. */
  #next(): number | undefined {
    let byte = this.#bytes[this.#at]
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.#at += 1
      byte = this.#bytes[this.#at]
    }
    return byte
  }

  #skipString(): void {
    let end = this.#bytes.indexOf(quote, this.#at + 1)
    while (end >= 0 && this.#isEscaped(end)) end = this.#bytes.indexOf(quote, end + 1)
    if (end < 0) return this.#break()
    this.#at = end + 1
  }

  #isEscaped(at: number): boolean {
    let count = 0
    while (this.#bytes[at - 1 - count] === backslash) count += 1
    return count % 2 === 1
  }

  /** A number, true, false or null. */
  #skipLiteral(): void {
    const start = this.#at
    for (let byte = this.#bytes[this.#at]; isOfLiteral(byte); byte = this.#bytes[this.#at]) {
      this.#at += 1
    }
    if (this.#at === start) this.#break()
  }

  #break(): void {
    this.isBroken = true
  }
}

function isOfLiteral(byte: number | undefined): boolean {
  if (byte === undefined) return false
  const isLetter = (byte >= 0x61 && byte <= 0x7a) || byte === 0x45
  return (
    isLetter || (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2b || byte === 0x2e
  )
}

function unescaped(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    // The escape is invalid, so this is neither a name nor a version.
    return undefined
  }
}
