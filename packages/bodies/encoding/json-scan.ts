/**
 * The shape of a JSON text that JSON.parse has accepted or is about to: how deep it nests and how
 * many members it has. Cheap enough for every write; the paths of duplicates are searched only if
 * the count shows that there are some.
 */
export interface JsonShape {
  readonly depth: number
  /** The bracket that first nested deeper than allowed, or an empty text. */
  readonly tooDeep: string
  /** The number of members of all objects, duplicates included. */
  readonly members: number
  /**
   * The number of members and items, one less in each list; each costs time wherever the value is
   * processed.
   */
  readonly parts: number
}

const quote = 0x22
const backslash = 0x5c

/** Makes one pass over the bytes and skips strings by searching for their end. */
export function shapeOfJson(bytes: Uint8Array, depthMax: number): JsonShape {
  let depth = 0
  let deepest = 0
  let members = 0
  let commas = 0
  let tooDeep = ''
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case quote:
        at = stringEnd(bytes, at + 1)
        break
      case 0x7b:
      case 0x5b:
        depth += 1
        if (depth > deepest) deepest = depth
        if (depth > depthMax && tooDeep === '') tooDeep = bytes[at] === 0x7b ? '{' : '['
        break
      case 0x7d:
      case 0x5d:
        depth -= 1
        break
      case 0x3a:
        members += 1
        break
      case 0x2c:
        commas += 1
        break
      default:
        break
    }
  }
  return { depth: deepest, tooDeep, members, parts: members + commas }
}

/** Returns the index of the closing quote, or the length if there is none. */
function stringEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; ; at += 1) {
    at = bytes.indexOf(quote, at)
    if (at < 0) return bytes.length
    let slashes = 0
    while (bytes[at - 1 - slashes] === backslash) slashes += 1
    if (slashes % 2 === 0) return at
  }
}

/** Counts the members of all objects in a parsed value. */
export function countMembers(root: unknown): number {
  let count = 0
  const pending = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    const members: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (!Array.isArray(value)) count += members.length
    for (const member of members) {
      if (typeof member === 'object' && member !== null) pending.push(member)
    }
  }
  return count
}

/** Returns the paths of members that occur more than once in their object, e.g. `spec.containers[0].name`. */
export function findDuplicates(text: string, pathsMax: number): string[] {
  const found: string[] = []
  walkMembers(text, (path, isRepeated) => {
    if (isRepeated) found.push(path)
    return found.length < pathsMax ? undefined : 'stop'
  })
  return found
}

/**
 * Calls back with every member of every object, in the order of the text, until the callback
 * returns `stop`.
 */
export function walkMembers(
  text: string,
  onMember: (path: string, isRepeated: boolean) => 'stop' | void,
): void {
  new MemberWalker(text, onMember).walk()
}

/** A container that is being read. */
interface OpenContainer {
  readonly path: string
  /** The keys that were read; undefined in a list. */
  readonly seen: Set<string> | undefined
  /** The number of items that were read. */
  items: number
}

class MemberWalker {
  readonly #text: string
  readonly #onMember: (path: string, isRepeated: boolean) => 'stop' | void
  /** An explicit stack, because bodies nest deeper than the call stack allows. */
  readonly #open: OpenContainer[] = []
  #at = 0

  constructor(text: string, onMember: (path: string, isRepeated: boolean) => 'stop' | void) {
    this.#text = text
    this.#onMember = onMember
  }

  walk(): void {
    this.#value('')
    for (let open = this.#open.at(-1); open; open = this.#open.at(-1)) {
      const char = this.#next()
      if (char === ',') this.#at += 1
      else if (char === ']' || char === '}' || char === '') {
        this.#at += 1
        this.#open.pop()
      } else if (open.seen === undefined) {
        this.#value(`${open.path}[${open.items}]`)
        open.items += 1
      } else if (this.#member(open.path, open.seen) === 'stop') return
    }
  }

  #value(path: string): void {
    const char = this.#next()
    if (char === '{' || char === '[') {
      this.#at += 1
      this.#open.push({ path, seen: char === '{' ? new Set() : undefined, items: 0 })
    } else if (char === '"') this.#string()
    else this.#scalar()
  }

  #member(path: string, seen: Set<string>): 'stop' | void {
    const key = String(JSON.parse(this.#string()))
    const memberPath = path === '' ? key : `${path}.${key}`
    if (this.#onMember(memberPath, seen.has(key)) === 'stop') return 'stop'
    seen.add(key)
    this.#next()
    this.#at += 1
    this.#value(memberPath)
  }

  /** Reads a string and returns it with its quotes. */
  #string(): string {
    const start = this.#at
    this.#at += 1
    while (this.#text[this.#at] !== '"') this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    this.#at += 1
    return this.#text.slice(start, this.#at)
  }

  #scalar(): void {
    while (this.#at < this.#text.length && !',]} \t\r\n'.includes(this.#text[this.#at] ?? '')) {
      this.#at += 1
    }
  }

  /** Returns the next character after white space. */
  #next(): string {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) this.#at += 1
    return this.#text[this.#at] ?? ''
  }
}
