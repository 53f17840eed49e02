import { isJsonObject } from '@skerry/api'

/** Returns what identifies an item in a merged list: the value of its merge key, or the scalar itself. */
function identityOf(item: unknown, key: string | undefined): unknown {
  return key !== undefined && isJsonObject(item) ? item[key] : item
}

/** Splits a list into items that `by` has, too, and those that only the server has. */
export function partition<T>(
  items: readonly T[],
  by: readonly unknown[],
  key?: string,
): { patched: readonly T[]; serverOnly: readonly T[] } {
  const known = new Set(by.map((item) => identityOf(item, key)))
  return {
    patched: items.filter((item) => known.has(identityOf(item, key))),
    serverOnly: items.filter((item) => !known.has(identityOf(item, key))),
  }
}

/** Returns each scalar once, at its first place. */
export function union(first: readonly unknown[], second: readonly unknown[]): unknown[] {
  return [...new Set([...first, ...second])]
}

export function removeValues(items: readonly unknown[], values: readonly unknown[]): unknown[] {
  const removed = new Set(values)
  return items.filter((item) => !removed.has(item))
}

export interface OrderedParts<T> {
  patched: readonly T[]
  serverOnly: readonly T[]
  /** The order that the client requests. */
  order: readonly unknown[]
  /** The order of the live list. */
  serverOrder: readonly unknown[]
}

/**
 * Returns the patched items in the requested order, and the server's own items in between: each stands before the patched
 * item that follows it in the live list.
 */
export function keepOrder<T>(parts: OrderedParts<T>, key?: string): T[] {
  const asked = ranks(parts.order, key)
  const live = ranks(parts.serverOrder, key)
  const rankIn = (ranked: ReadonlyMap<unknown, number>, item: T): number =>
    ranked.get(identityOf(item, key)) ?? ranked.size
  const patched = parts.patched.toSorted((a, b) => rankIn(asked, a) - rankIn(asked, b))
  const serverOnly = parts.serverOnly.toSorted((a, b) => rankIn(live, a) - rankIn(live, b))
  const ordered: T[] = []
  let next = 0
  for (const item of patched) {
    const limit = live.get(identityOf(item, key))
    for (; limit !== undefined && next < serverOnly.length; next += 1) {
      const candidate = serverOnly[next]
      if (candidate === undefined) break
      const rank = live.get(identityOf(candidate, key))
      if (rank === undefined || rank >= limit) break
      ordered.push(candidate)
    }
    ordered.push(item)
  }
  return [...ordered, ...serverOnly.slice(next)]
}

/** Returns the first place of each identity. */
function ranks(items: readonly unknown[], key: string | undefined): ReadonlyMap<unknown, number> {
  const ranked = new Map<unknown, number>()
  items.forEach((item, at) => {
    const identity = identityOf(item, key)
    if (!ranked.has(identity)) ranked.set(identity, at)
  })
  return ranked
}
