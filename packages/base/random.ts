import { randomBytes } from 'node:crypto'

/** Randomness as a seam. Never used for keys or tokens in tests that replay; always `systemRandom` in production. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** `count` random bytes, count at most 65,536. */
  bytes(count: number): Uint8Array
}

export const systemRandom: Random = Object.freeze({
  next: () => Math.random(),
  bytes: (count: number) => new Uint8Array(randomBytes(count)),
})

/** Deterministic (mulberry32). The same seed gives the same sequence; not for secrets. */
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
