import { randomBytes } from 'node:crypto'
import { baseBounds } from './limits-table.ts'

/**
 * The source of randomness, injected in tests. Production always uses `systemRandom`; a seeded
 * source must never make keys or tokens.
 */
export interface Random {
  /** Returns a uniform number in [0, 1). */
  next(): number
  /** Returns `count` random bytes; at most 65,536. */
  bytes(count: number): Uint8Array
}

const pool = { bytes: new Uint8Array(0), used: 0 }
const { poolBytes, pooledMax } = baseBounds.random

/** Takes small counts from a pool: asking the system for each costs more than most of their uses. */
function takeBytes(count: number): Uint8Array {
  if (count > pooledMax) return new Uint8Array(randomBytes(count))
  if (pool.used + count > pool.bytes.length) {
    pool.bytes = new Uint8Array(randomBytes(poolBytes))
    pool.used = 0
  }
  const taken = pool.bytes.slice(pool.used, pool.used + count)
  // Bytes that were handed out must not stay readable in the pool.
  pool.bytes.fill(0, pool.used, pool.used + count)
  pool.used += count
  return taken
}

export const systemRandom: Random = Object.freeze({
  next: () => Math.random(),
  bytes: takeBytes,
})

/** Creates a deterministic source (mulberry32). The same seed gives the same sequence. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(next() * 256)),
  }
}
