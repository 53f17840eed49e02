import { LuaHash } from './lua-hash.ts'
import type { LuaRun } from './lua-run.ts'
import { LuaError, type LuaValue } from './lua-value.ts'

/** About what an element takes in memory. */
export const elementBytes = 40

/** A table without metatables. Elements 1 to n lie in a row, which may have holes; others are hashed. */
export class LuaTable {
  readonly #row: LuaValue[]
  #hash = new LuaHash()
  /** No element of the row stands before this index. */
  #rowFirst = 0
  /** The longest that the row has been: keys up to here may have been in it. */
  #rowMost: number

  constructor(row: LuaValue[] = []) {
    this.#row = row
    this.#rowMost = row.length
    this.#trim()
  }

  /** One of its own, with the same elements. */
  copy(): LuaTable {
    const copy = new LuaTable([...this.#row])
    copy.#hash = this.#hash.copy()
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

  /** Later elements move. Positions from 1 to the length plus 1. */
  insert(position: number, value: LuaValue, run: LuaRun): void {
    run.step(this.#row.length - position + 1)
    run.spend(elementBytes)
    this.#row.splice(position - 1, 0, value)
    this.#rowFirst = 0
    this.#rowMost = Math.max(this.#rowMost, this.#row.length)
    this.#trim()
  }

  /** Later elements move. */
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

  /** How many elements there are, holes of the row included. */
  get size(): number {
    return this.#row.length + this.#hash.size
  }

  /** Whether there is any element. */
  get isEmpty(): boolean {
    return this.#row.length === 0 && this.#hash.size === 0
  }

  /** The row first, then others in the order that they came. Each place that is passed is a step. */
  *keys(run: LuaRun): Generator<LuaValue, undefined> {
    for (let key = this.nextKey(undefined, run); key !== undefined; key = this.nextKey(key, run)) {
      yield key
    }
    return undefined
  }

  /**
   * The key that comes after this one; undefined behind the last. An element that was removed while the
   * table was walked still has its place. Each place that is passed is a step, and those before the
   * first element are passed once.
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

  /** Undefined of a key that stands in the hash. */
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
