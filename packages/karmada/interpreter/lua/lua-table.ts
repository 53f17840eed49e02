import type { LuaRun } from './lua-run.ts'
import { LuaError, type LuaValue } from './lua-value.ts'

/** About what an element takes in memory. */
export const elementBytes = 40

/** A table without metatables. Elements 1 to n lie in a row, which may have holes; others are hashed. */
export class LuaTable {
  readonly #row: LuaValue[]
  readonly #hash = new Map<LuaValue, LuaValue>()
  #walk: { readonly keys: Iterator<LuaValue>; at: LuaValue } | undefined

  constructor(row: LuaValue[] = []) {
    this.#row = row
    this.#trim()
  }

  /** One of its own, with the same elements. */
  copy(): LuaTable {
    const copy = new LuaTable([...this.#row])
    for (const [key, value] of this.#hash) copy.#hash.set(key, value)
    return copy
  }

  /** The row's length: what stands behind it is nil. */
  get length(): number {
    return this.#row.length
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === 'number' && key >= 1 && key <= this.#row.length) {
      const value = this.#row[key - 1]
      if (Number.isInteger(key)) return value
    }
    return this.#hash.get(key)
  }

  /** Throws a LuaError on a key that no element can have. */
  set(key: LuaValue, value: LuaValue, run: LuaRun): void {
    if (key === undefined) throw new LuaError('table index is nil')
    if (typeof key === 'number') {
      if (Number.isNaN(key)) throw new LuaError('table index is NaN')
      if (Number.isInteger(key) && key >= 1 && key <= this.#row.length + 1) {
        return this.#setInRow(key, value, run)
      }
    }
    if (value === undefined) {
      // Stays as a key without a value, so that a walk that is under way goes on from it.
      if (this.#hash.has(key)) this.#hash.set(key, undefined)
      return
    }
    if (!this.#hash.has(key)) run.spend(elementBytes)
    this.#hash.set(key, value)
  }

  #setInRow(key: number, value: LuaValue, run: LuaRun): void {
    if (key === this.#row.length + 1) {
      if (value === undefined) return
      run.spend(elementBytes)
      this.#row.push(value)
      this.#hash.delete(key)
      for (let next = key + 1; this.#hash.get(next) !== undefined; next += 1) {
        this.#row.push(this.#hash.get(next))
        this.#hash.delete(next)
      }
      return
    }
    this.#row[key - 1] = value
    this.#trim()
  }

  #trim(): void {
    while (this.#row.length > 0 && this.#row[this.#row.length - 1] === undefined) this.#row.pop()
  }

  /** Later elements move. Positions from 1 to the length plus 1. */
  insert(position: number, value: LuaValue, run: LuaRun): void {
    run.step(this.#row.length - position + 1)
    run.spend(elementBytes)
    this.#row.splice(position - 1, 0, value)
    this.#trim()
  }

  /** Later elements move. */
  remove(position: number, run: LuaRun): LuaValue {
    if (position < 1 || position > this.#row.length) return undefined
    run.step(this.#row.length - position + 1)
    const [value] = this.#row.splice(position - 1, 1)
    this.#trim()
    return value
  }

  /** The elements in a row; holes are nil. */
  row(): readonly LuaValue[] {
    return this.#row
  }

  replaceRow(row: readonly LuaValue[]): void {
    for (const [index, value] of row.entries()) this.#row[index] = value
    this.#trim()
  }

  /** Whether there is any element. */
  get isEmpty(): boolean {
    return this.keys().next().done === true
  }

  /** The row first, then others in the order that they came. */
  *keys(): Generator<LuaValue, undefined> {
    for (let index = 0; index < this.#row.length; index += 1) {
      if (this.#row[index] !== undefined) yield index + 1
    }
    for (const [key, value] of this.#hash) if (value !== undefined) yield key
    return undefined
  }

  /** The key that comes after this one; undefined behind the last. Walking on from the last answer is cheap. */
  nextKey(after: LuaValue, run: LuaRun): LuaValue {
    run.step()
    if (after === undefined || this.#walk === undefined || this.#walk.at !== after) {
      this.#walk = { keys: this.keys(), at: undefined }
      while (after !== undefined && this.#walk.at !== after) {
        run.step()
        const { done, value } = this.#walk.keys.next()
        if (done === true) throw new LuaError('invalid key to next')
        this.#walk.at = value
      }
    }
    this.#walk.at = this.#walk.keys.next().value
    return this.#walk.at
  }
}
