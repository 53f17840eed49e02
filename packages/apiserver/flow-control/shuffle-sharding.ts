import { createHash } from 'node:crypto'

/** The most hands of different flows that 60 bits of hash tell apart. */
const entropyBits = 60

/** Decides which queues a flow may use: `handSize` different ones of `deckSize`, the same each time. */
export function dealHand(flow: string, deckSize: number, handSize: number): number[] {
  let rest = createHash('sha256').update(flow).digest().readBigUInt64LE() & ((1n << 60n) - 1n)
  const hand: number[] = []
  const size = Math.min(handSize, deckSize)
  for (let dealt = 0; dealt < size; dealt += 1) {
    const left = BigInt(deckSize - dealt)
    let card = Number(rest % left)
    rest /= left
    // The card counts among those that are still there.
    for (const taken of hand.toSorted((a, b) => a - b)) if (taken <= card) card += 1
    hand.push(card)
  }
  return hand
}

/** Whether hands of that size can be told apart at all. */
export function isDealable(deckSize: number, handSize: number): boolean {
  return handSize <= deckSize && Math.log2(deckSize) * handSize <= entropyBits
}
