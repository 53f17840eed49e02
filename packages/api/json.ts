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

/** A deep copy of JSON; faster than structuredClone, which also keeps what JSON has not. */
export function cloneJson<T>(value: T): T
export function cloneJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => cloneJson(item))
  const copy: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) setMember(copy, key, cloneJson(member))
  }
  return copy
}

/** Deep equality of JSON; an undefined member is an absent one, and key order does not count. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, at) => equalJson(item, b[at]))
  }
  return isJsonObject(a) && isJsonObject(b) && equalObjects(a, b)
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  let count = 0
  for (const key of Object.keys(a)) {
    const value = a[key]
    if (value === undefined) continue
    count += 1
    if (!Object.hasOwn(b, key) || !equalJson(value, b[key])) return false
  }
  for (const key of Object.keys(b)) {
    if (b[key] !== undefined) count -= 1
  }
  return count === 0
}
