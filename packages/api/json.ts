import { recursionMax } from './limits-table.ts'

/** A JSON object whose members the compiler does not know. */
export type JsonObject = Record<string, unknown>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Assigns an own member, even with the one name that plain assignment would treat as the prototype. */
export function setMember(target: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') {
    target[key] = value
    return
  }
  Object.defineProperty(target, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}

/** Returns an own member, or undefined for inherited ones. */
export function memberOf(target: Readonly<JsonObject>, key: string): unknown {
  return Object.hasOwn(target, key) ? target[key] : undefined
}

/** Copies JSON deeply. Faster than structuredClone, which also keeps values other than JSON. */
export function cloneJson<T>(value: T): T
export function cloneJson(value: unknown): unknown {
  return cloneAt(value, 0)
}

function cloneAt(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  // The engine parses JSON without recursion.
  if (depth > recursionMax) return JSON.parse(encodeDeep(value))
  if (Array.isArray(value)) return value.map((item) => cloneAt(item, depth + 1))
  const copy: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) setMember(copy, key, cloneAt(member, depth + 1))
  }
  return copy
}

/**
 * Returns true if the JSON text of a value is certainly longer than this many bytes. Looks no
 * further than necessary.
 */
export function isLongerAsJson(value: unknown, bytesMax: number): boolean {
  let bytes = 0
  const containers: object[] = []
  const count = (member: unknown): void => {
    if (typeof member === 'string') bytes += member.length + 2
    else if (typeof member === 'object' && member !== null) containers.push(member)
    else bytes += 1
  }
  count(value)
  for (let next = containers.pop(); next && bytes <= bytesMax; next = containers.pop()) {
    bytes += 2
    if (Array.isArray(next)) {
      bytes += Math.max(0, next.length - 1)
      for (const item of next) count(item)
      continue
    }
    for (const [key, member] of Object.entries(next)) {
      if (member === undefined) continue
      bytes += key.length + 4
      count(member)
    }
    // There is no comma before the first member.
    bytes -= 1
  }
  return bytes > bytesMax
}

/** Compares JSON deeply. An undefined member equals an omitted one, and key order does not count. */
export function equalJson(a: unknown, b: unknown): boolean {
  const deeper: unknown[] = []
  if (!equalAt(a, b, { depth: 0, deeper })) return false
  // Values too deep for one recursion are compared by the next: pairs, one after the other.
  while (deeper.length > 0) {
    const right = deeper.pop()
    if (!equalAt(deeper.pop(), right, { depth: 0, deeper })) return false
  }
  return true
}

interface Comparing {
  readonly depth: number
  /** The left and right values of each pair that must still be compared. */
  readonly deeper: unknown[]
}

function equalAt(a: unknown, b: unknown, at: Comparing): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (at.depth > recursionMax) {
    at.deeper.push(a, b)
    return true
  }
  const below = { depth: at.depth + 1, deeper: at.deeper }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, index) => equalAt(item, b[index], below))
  }
  return isJsonObject(a) && isJsonObject(b) && equalObjects(a, b, below)
}

function equalObjects(a: JsonObject, b: JsonObject, below: Comparing): boolean {
  let count = 0
  for (const key of Object.keys(a)) {
    const value = a[key]
    if (value === undefined) continue
    count += 1
    if (!Object.hasOwn(b, key) || !equalAt(value, b[key], below)) return false
  }
  for (const key of Object.keys(b)) {
    if (b[key] !== undefined) count -= 1
  }
  return count === 0
}

interface OpenContainer {
  readonly end: ']' | '}'
  /** The text before each member, and the member. */
  readonly members: readonly (readonly [prefix: string, member: unknown])[]
  next: number
}

/**
 * Writes the same text as JSON.stringify, without recursion. The engine avoids recursion only for
 * objects with a simple layout, which cannot be detected.
 */
export function encodeDeep(root: unknown): string {
  const parts: string[] = []
  const open: OpenContainer[] = []
  const write = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) parts.push(JSON.stringify(value) ?? 'null')
    else {
      const container = openContainer(value)
      parts.push(container.end === ']' ? '[' : '{')
      open.push(container)
    }
  }
  write(root)
  for (let last = open.at(-1); last; last = open.at(-1)) {
    const member = last.members[last.next]
    last.next += 1
    if (member === undefined) {
      parts.push(last.end)
      open.pop()
    } else {
      parts.push(last.next > 1 ? `,${member[0]}` : member[0])
      write(member[1])
    }
  }
  return parts.join('')
}

function openContainer(value: object): OpenContainer {
  if (Array.isArray(value)) {
    return { end: ']', members: value.map((item: unknown) => ['', item]), next: 0 }
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [`${JSON.stringify(key)}:`, member] as const)
  return { end: '}', members, next: 0 }
}
