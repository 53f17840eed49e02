import type { CelList, CelValue } from '../language/cel-value.ts'
import { areEqual, identityOf } from '../values/equality.ts'
import { itemsOf } from '../values/kinds.ts'

/**
 * A list that grows by `+`. The longest list of a chain owns the array's end and adds in place, so
 * that collecting n items takes n steps. A shorter list is copied.
 */
class MadeList implements CelList {
  readonly celKind = 'list'
  readonly size: number
  readonly #items: CelValue[]

  constructor(items: CelValue[], size = items.length) {
    this.#items = items
    this.size = size
  }

  at(index: number): CelValue {
    return (index < this.size ? this.#items[index] : undefined) ?? null
  }

  plus(other: CelList): CelList {
    const items = this.#items.length === this.size ? this.#items : this.#items.slice(0, this.size)
    // The items are collected first, because the other list may be this one.
    const added = [...itemsOf(other)]
    for (const item of added) items.push(item)
    return new MadeList(items)
  }
}

export function madeList(items: CelValue[]): CelList {
  return new MadeList(items)
}

/** Concatenates lists; lists with identities merge. */
export function concatenate(a: CelList, b: CelList): CelList {
  const { listKind } = a
  if (listKind?.type === 'set') {
    const items = [...itemsOf(a)]
    for (const item of itemsOf(b)) {
      if (!items.some((other) => areEqual(other, item))) items.push(item)
    }
    return withKind(madeList(items), a)
  }
  if (listKind?.type === 'map') {
    const items = new Map([...itemsOf(a)].map((item) => [identityOf(item, listKind.keys), item]))
    for (const item of itemsOf(b)) items.set(identityOf(item, listKind.keys), item)
    return withKind(madeList([...items.values()]), a)
  }
  if (a instanceof MadeList) return a.plus(b)
  return new MadeList([...itemsOf(a), ...itemsOf(b)])
}

function withKind(list: CelList, { listKind }: CelList): CelList {
  return { celKind: 'list', size: list.size, listKind, at: (index) => list.at(index) }
}

/** Returns true if the value is in the list. */
export function contains(list: CelList, value: CelValue): boolean {
  for (let at = 0; at < list.size; at += 1) {
    if (areEqual(list.at(at), value)) return true
  }
  return false
}
