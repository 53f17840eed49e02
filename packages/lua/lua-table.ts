import { LuaHash } from './lua-hash.ts'
import type { LuaRun } from './lua-run.ts'
import { LuaError, type LuaValue } from './lua-value.ts'
import { elementBytes } from './limits-table.ts'

/** A table without metatables. Elements 1 to n are in a row, which may have holes; others are hashed. */
export class LuaTable {
  readonly #row: LuaValue[]
  #hash = new LuaHash()
  /** No element of the row is before this index. */
  #rowFirst = 0
  /** The largest length that the row has had: keys up to here may have been in it. */
  #rowMost: number

  constructor(row: LuaValue[] = []) {
    this.#row = row
    this.#rowMost = row.length
    this.#trim()
  }

  /** Returns a copy with the same elements. */
  copy(): LuaTable {
    const copy = new LuaTable([...this.#row])
    copy.#hash = this.#hash.copy()
    return copy
  }

  /** The row's length; elements beyond it are nil. */
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
    if (this.#hash.set(key, value)) run.spend(elementBytes)
  }

  #setInRow(key: number, value: LuaValue, run: LuaRun): void {
    if (key === this.#row.length + 1) {
      if (value === undefined) {
        this.#hash.set(key, undefined)
        return
      }
      run.spend(elementBytes)
      this.#row.push(value)
      this.#hash.remove(key)
      for (let next = key + 1; this.#hash.get(next) !== undefined; next += 1) {
        run.step()
        this.#row.push(this.#hash.get(next))
        this.#hash.remove(next)
      }
      this.#rowMost = Math.max(this.#rowMost, this.#row.length)
      return
    }
    this.#row[key - 1] = value
    this.#rowFirst = Math.min(this.#rowFirst, key - 1)
    this.#trim()
  }

  #trim(): void {
    while (this.#row.length > 0 && this.#row[this.#row.length - 1] === undefined) this.#row.pop()
  }

  /** Inserts an element and moves later ones. Positions go from 1 to the length plus 1. */
  insert(position: number, value: LuaValue, run: LuaRun): void {
    run.step(this.#row.length - position + 1)
    run.spend(elementBytes)
    this.#row.splice(position - 1, 0, value)
    this.#rowFirst = 0
    this.#rowMost = Math.max(this.#rowMost, this.#row.length)
    this.#trim()
  }

  /** Removes an element and moves later ones. */
  remove(position: number, run: LuaRun): LuaValue {
    if (position < 1 || position > this.#row.length) return undefined
    run.step(this.#row.length - position + 1)
    const [value] = this.#row.splice(position - 1, 1)
    this.#rowFirst = 0
    this.#trim()
    return value
  }

  /** The elements in a row; holes are nil. */
  row(): readonly LuaValue[] {
    return this.#row
  }

  replaceRow(row: readonly LuaValue[]): void {
    for (const [index, value] of row.entries()) this.#row[index] = value
    this.#rowFirst = 0
    this.#trim()
  }

  /** The number of elements, holes of the row included. */
  get size(): number {
    return this.#row.length + this.#hash.size
  }

  /** True if there is no element. */
  get isEmpty(): boolean {
    return this.#row.length === 0 && this.#hash.size === 0
  }

  /** Yields the row first, then others in the order of insertion. Each place passed is a step. */
  *keys(run: LuaRun): Generator<LuaValue, undefined> {
    for (let key = this.nextKey(undefined, run); key !== undefined; key = this.nextKey(key, run)) {
      yield key
    }
    return undefined
  }

  /**
   * Returns the key after this one, or undefined after the last. An element that was removed during
   * a traversal still has its place. Each place passed is a step, and those before the first
   * element are passed once.
   */
  nextKey(after: LuaValue, run: LuaRun): LuaValue {
    run.step()
    const index = after === undefined ? this.#rowFirst : this.#indexAfter(after)
    if (index !== undefined) {
      const found = this.#nextInRow(index, run)
      if (after === undefined) this.#rowFirst = found ?? this.#row.length
      if (found !== undefined) return found + 1
    }
    return this.#hash.next(index === undefined ? after : undefined, run)
  }

  /** Returns undefined for a key in the hash. */
  #indexAfter(key: LuaValue): number | undefined {
    if (typeof key !== 'number' || !Number.isInteger(key) || key < 1) return undefined
    return key <= this.#rowMost && !this.#hash.has(key) ? key : undefined
  }

  #nextInRow(from: number, run: LuaRun): number | undefined {
    for (let index = from; index < this.#row.length; index += 1) {
      if (this.#row[index] !== undefined) return index
      run.step()
    }
    return undefined
  }
}
