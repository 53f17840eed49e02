/** Random choices that are the same for each seed. */
export interface Random {
  /** A whole number from 0 to the bound, without it. */
  below(bound: number): number
  pick<T>(all: readonly T[]): T
}

/** Creates choices of xorshift32, which is good enough for requests and the same on every platform. */
export function createRandom(seed: number): Random {
  let state = seed * 2_654_435_761 || 1
  const below = (bound: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
  for (let at = 0; at < 8; at += 1) below(2)
  return {
    below,
    pick<T>(all: readonly T[]): T {
      const found = all[below(all.length)]
      if (found === undefined && all.length === 0)
        throw new RangeError('Cannot pick: there is nothing')
      // Every index below the length has an element.
      return found as T
    },
  }
}
