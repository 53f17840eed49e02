import { CelRuntimeError } from '../language/cel-errors.ts'
import { CelUint, type CelMap, type CelValue } from '../language/cel-value.ts'

/** Returns the key for a Map: numbers compare by value, whatever their type. */
function keyOf(key: CelValue): unknown {
  if (key instanceof CelUint) return key.value
  if (typeof key === 'number' && Number.isInteger(key)) return BigInt(key)
  return key
}

interface Entry {
  readonly at: number
  readonly key: CelValue
  readonly value: CelValue
}

/**
 * A map that grows. The largest map of a chain owns the entries and adds in place, like the largest
 * list. An entry belongs to maps that are larger than its position.
 */
class MadeMap implements CelMap {
  readonly celKind = 'map'
  readonly size: number
  readonly #held: Map<unknown, Entry>

  constructor(held: Map<unknown, Entry>, size = held.size) {
    this.#held = held
    this.size = size
  }

  get(key: CelValue): CelValue | undefined {
    const entry = this.#held.get(keyOf(key))
    return entry && entry.at < this.size ? entry.value : undefined
  }

  *keys(): Generator<CelValue> {
    for (const { at, key } of this.#held.values()) {
      if (at >= this.size) return
      yield key
    }
  }

  plus(key: CelValue, value: CelValue): CelMap {
    const isOwner = this.#held.size === this.size
    const held = isOwner ? this.#held : new Map([...this.#held].slice(0, this.size))
    held.set(keyOf(key), { at: held.size, key, value })
    return new MadeMap(held)
  }
}

/** Creates a map from an expression's entries. */
export function mapOf(entries: Iterable<readonly [CelValue, CelValue]>): CelMap {
  const held = new Map<unknown, Entry>()
  for (const [key, value] of entries) held.set(keyOf(key), { at: held.size, key, value })
  return new MadeMap(held)
}

/** Returns the map with one more entry. Throws CelRuntimeError if the key exists. */
export function mapPlus(map: CelMap, key: CelValue, value: CelValue): CelMap {
  if (map.get(key) !== undefined)
    throw new CelRuntimeError(`insert failed: key '${String(keyOf(key))}' already exists`)
  const made = map instanceof MadeMap ? map : undefined
  if (made) return made.plus(key, value)
  const entries = [...map.keys()].map((one) => [one, map.get(one) ?? null] as const)
  return mapOf([...entries, [key, value]])
}
