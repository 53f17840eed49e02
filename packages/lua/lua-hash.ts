import type { LuaRun } from './lua-run.ts'
import { LuaError, type LuaValue } from './lua-value.ts'
import { luaBounds } from './limits-table.ts'

const { placesMin } = luaBounds.luaHash

/**
 * The elements of a table outside its row, each at its own place, in the order of insertion. An
 * element that is set to nil keeps its place until another key is added, so that a traversal can
 * continue from it.
 */
export class LuaHash {
  #places = new Map<LuaValue, number>()
  #keys: LuaValue[] = []
  #values: LuaValue[] = []
  /** No element is before this place. */
  #first = 0
  #size = 0
  /** The position of the newest traversal, which continues from there even if that element is removed. */
  #walked: LuaValue

  /** The number of elements. */
  get size(): number {
    return this.#size
  }

  copy(): LuaHash {
    const copy = new LuaHash()
    for (const [place, key] of this.#keys.entries()) {
      const value = this.#values[place]
      if (value !== undefined) copy.set(key, value)
    }
    return copy
  }

  /** Returns true if the key has a place, with or without a value. */
  has(key: LuaValue): boolean {
    return this.#places.has(key)
  }

  get(key: LuaValue): LuaValue {
    const place = this.#places.get(key)
    return place === undefined ? undefined : this.#values[place]
  }

  /** Returns true if a new place was created. */
  set(key: LuaValue, value: LuaValue): boolean {
    const place = this.#places.get(key)
    if (place !== undefined) {
      this.#size += Number(value !== undefined) - Number(this.#values[place] !== undefined)
      this.#values[place] = value
      if (value !== undefined) this.#first = Math.min(this.#first, place)
      return false
    }
    if (value === undefined) return false
    // At least half of the places were created and vacated since the last time, so each pays for
    // itself.
    if (this.#keys.length >= placesMin && this.#keys.length > 2 * this.#size) this.#compact()
    this.#places.set(key, this.#keys.length)
    this.#keys.push(key)
    this.#values.push(value)
    this.#size += 1
    return true
  }

  /** Removes the key with its place, because it was moved to the row. */
  remove(key: LuaValue): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    this.set(key, undefined)
    this.#places.delete(key)
  }

  /** Returns the key of the next element, or of the first one if there is none before it. */
  next(after: LuaValue, run: LuaRun): LuaValue {
    const from = after === undefined ? this.#first : this.#placeOf(after) + 1
    for (let place = from; place < this.#keys.length; place += 1) {
      if (this.#values[place] !== undefined) {
        if (after === undefined) this.#first = place
        this.#walked = this.#keys[place]
        return this.#walked
      }
      run.step()
    }
    if (after === undefined) this.#first = this.#keys.length
    return undefined
  }

  #placeOf(key: LuaValue): number {
    const place = this.#places.get(key)
    if (place === undefined) throw new LuaError('invalid key to next')
    return place
  }

  #compact(): void {
    const [keys, values] = [this.#keys, this.#values]
    this.#places = new Map()
    this.#keys = []
    this.#values = []
    this.#first = 0
    for (const [place, value] of values.entries()) {
      const key = keys[place]
      if (value === undefined && key !== this.#walked) continue
      this.#places.set(key, this.#keys.length)
      this.#keys.push(key)
      this.#values.push(value)
    }
  }
}
