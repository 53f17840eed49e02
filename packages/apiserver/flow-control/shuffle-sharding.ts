import { createHash } from 'node:crypto'

/** Decides which queues a flow may use: `handSize` different ones of `deckSize`, always the same. */
export function dealHand(flow: string, deckSize: number, handSize: number): number[] {
  let rest = createHash('sha256').update(flow).digest().readBigUInt64LE() & ((1n << 60n) - 1n)
  const hand: number[] = []
  const size = Math.min(handSize, deckSize)
  for (let dealt = 0; dealt < size; dealt += 1) {
    const left = BigInt(deckSize - dealt)
    let card = Number(rest % left)
    rest /= left
    // The card's number counts only the remaining cards.
    for (const taken of hand.toSorted((a, b) => a - b)) if (taken <= card) card += 1
    hand.push(card)
  }
  return hand
}
