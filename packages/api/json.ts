/** A JSON object whose members are not known to the compiler. */
export type JsonObject = Record<string, unknown>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Assigns an own member, also for the one name that plain assignment would take for the prototype. */
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

/** An own member; undefined for what objects inherit. */
export function memberOf(target: Readonly<JsonObject>, key: string): unknown {
  return Object.hasOwn(target, key) ? target[key] : undefined
}

/** Containers in containers; a recursion below this is safe on any stack, however it was called. */
export const recursionMax = 200

/** A deep copy of JSON; faster than structuredClone, which also keeps what JSON has not. */
export function cloneJson<T>(value: T): T
export function cloneJson(value: unknown): unknown {
  return cloneAt(value, 0)
}

function cloneAt(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  // The engine reads JSON without recursion.
  if (depth > recursionMax) return JSON.parse(encodeDeep(value))
  if (Array.isArray(value)) return value.map((item) => cloneAt(item, depth + 1))
  const copy: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) setMember(copy, key, cloneAt(member, depth + 1))
  }
  return copy
}

/** Whether the text of a JSON value is certainly longer than so many bytes; looks no further than it must. */
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
    // No comma stands before the first.
    bytes -= 1
  }
  return bytes > bytesMax
}

/** Deep equality of JSON; an undefined member is an absent one, and key order does not count. */
export function equalJson(a: unknown, b: unknown): boolean {
  const deeper: unknown[] = []
  if (!equalAt(a, b, { depth: 0, deeper })) return false
  // What lies too deep for one recursion is compared by the next: pairs, one after the other.
  while (deeper.length > 0) {
    const right = deeper.pop()
    if (!equalAt(deeper.pop(), right, { depth: 0, deeper })) return false
  }
  return true
}

interface Comparing {
  readonly depth: number
  /** Left and right of each pair that is still to be compared. */
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
  /** What is before each member, and the member. */
  readonly members: readonly (readonly [prefix: string, member: unknown])[]
  next: number
}

/**
 * What JSON.stringify writes, without recursion: the engine does without it only for objects that are
 * laid out simply, and nobody can see whether they are.
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
