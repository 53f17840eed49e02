import {
  quoteGo,
  isJsonObject,
  memberOf,
  recursionMax,
  type JsonObject,
  type Schema,
} from '@skerry/api'

/**
 * Returns one step of a field path, in the text of FieldsV1. Equal steps have equal texts, so that
 * sets can be plain maps. `f:` is a field or map key, `k:` a list item by its keys, `v:` a set item
 * by its value, `i:` a list index.
 */
export function fieldElement(name: string): string {
  return `f:${name}`
}

/**
 * Returns the element of a list-map item, or undefined if it has none of the keys and so cannot be
 * addressed.
 */
export function keyElement(
  item: unknown,
  keys: readonly string[],
  itemFields: Readonly<Record<string, Schema>> | undefined,
): string | undefined {
  if (!isJsonObject(item)) return undefined
  const found: JsonObject = {}
  let count = 0
  for (const key of keys) {
    const own = memberOf(item, key)
    // An explicit null is a key like any other.
    const value = own === undefined ? itemFields?.[key]?.default : own
    if (value === undefined) continue
    found[key] = value
    count += 1
  }
  return count === 0 ? undefined : `k:${encodeKeys(found)}`
}

/** Returns the element of a set item, or undefined if the value cannot be in a set. */
export function valueElement(item: unknown): string | undefined {
  if (typeof item === 'object' || item === undefined) return undefined
  return `v:${JSON.stringify(item)}`
}

/** Returns undefined for an unknown type. Throws RangeError if malformed. */
export function canonicalElement(text: string): string | undefined {
  switch (text.slice(0, 2)) {
    case 'f:':
    case 'i:':
      return text
    case 'v:':
      return `v:${JSON.stringify(parse(text))}`
    case 'k:': {
      const keys = parse(text)
      if (!isJsonObject(keys)) throw new RangeError(`Cannot decode path element: ${text}`)
      return `k:${encodeKeys(keys)}`
    }
    default:
      if (text[1] === ':') return undefined
      throw new RangeError(`Cannot decode path element: ${text} has no type`)
  }
}

/** Formats an element as in upstream's messages: `.name`, `[name="a"]`, `[="x"]`, `[0]`. */
export function printPathElement(element: string): string {
  switch (element[0]) {
    case 'f':
      return `.${element.slice(2)}`
    case 'i':
      return `[${element.slice(2)}]`
    case 'v':
      return `[=${printValue(parse(element))}]`
    default: {
      const keys = parse(element)
      if (!isJsonObject(keys)) return element
      const parts = Object.entries(keys).map(([name, value]) => `${name}=${printValue(value)}`)
      return `[${parts.join(',')}]`
    }
  }
}

const rankOfType: Readonly<Record<string, number>> = Object.freeze({ f: 0, k: 1, v: 2, i: 3 })

export function comparePathElements(a: string, b: string): number {
  const ranks = (rankOfType[a[0] ?? ''] ?? 4) - (rankOfType[b[0] ?? ''] ?? 4)
  if (ranks !== 0) return ranks
  return a < b ? -1 : a > b ? 1 : 0
}

function encodeKeys(keys: Readonly<JsonObject>): string {
  const names = Object.keys(keys).toSorted()
  const members = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(keys[name])}`)
  return `{${members.join(',')}}`
}

function parse(element: string): unknown {
  try {
    return JSON.parse(element.slice(2))
  } catch (error) {
    throw new RangeError(`Cannot decode path element: ${element}`, { cause: error })
  }
}

/** A valid key is a scalar, but a refused one is shown, too: its members one after the other. */
function printValue(value: unknown, depth = 0): string {
  if (typeof value === 'string') return quoteGo(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (depth > recursionMax) return '...'
  if (Array.isArray(value)) return `[${value.map((item) => printValue(item, depth + 1)).join(',')}]`
  return Object.entries(value)
    .map(([name, member]) => `${name}=${printValue(member, depth + 1)}`)
    .join('')
}
