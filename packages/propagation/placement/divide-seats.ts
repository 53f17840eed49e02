import { fnv32a, type TargetCluster } from '@skerry/karmada-kinds'

export interface Party {
  readonly name: string
  /** The weight; at least 0. */
  readonly votes: number
}

/**
 * Divides seats by Webster's method: each seat goes to the party with the most votes per (its seats + ½). If
 * parties are equal, the one with fewer seats takes it, then the order of names decides. The uid reverses that
 * order for some objects, so that the remaining replica is not always in the same cluster. Returns the parties
 * sorted by name. The caller handles the case that nobody has votes.
 */
export function divideSeats(
  seats: number,
  parties: readonly Party[],
  uid: string | undefined,
): TargetCluster[] {
  if (parties.length === 0) return []
  const isBefore = orderOf(uid)
  const heap: Seated[] = parties.map(({ name, votes }) => ({ name, votes, seats: 0 }))
  for (let at = heap.length >> 1; at >= 0; at -= 1) sink(heap, at, isBefore)
  for (let left = seats; left > 0; left -= 1) {
    const [first] = heap
    if (first !== undefined) first.seats += 1
    sink(heap, 0, isBefore)
  }
  return heap
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((party) => ({ name: party.name, replicas: party.seats }))
}

interface Seated extends Party {
  seats: number
}

type Order = (one: Seated, other: Seated) => boolean

function orderOf(uid = ''): Order {
  const isTurned = uid !== '' && (fnv32a(uid) & 1) === 1
  return (one, other) => {
    const quotient = one.votes / (2 * one.seats + 1) - other.votes / (2 * other.seats + 1)
    if (quotient !== 0) return quotient > 0
    if (one.seats !== other.seats) return one.seats < other.seats
    return isTurned ? one.name > other.name : one.name < other.name
  }
}

/** Sinks the party until neither child comes before it. */
function sink(heap: Seated[], from: number, isBefore: Order): void {
  let at = from
  for (;;) {
    const party = heap[at]
    const left = heap[2 * at + 1]
    const right = heap[2 * at + 2]
    if (party === undefined || left === undefined) return
    const isRight = right !== undefined && isBefore(right, left)
    const first = isRight ? right : left
    if (!isBefore(first, party)) return
    const below = isRight ? 2 * at + 2 : 2 * at + 1
    heap[at] = first
    heap[below] = party
    at = below
  }
}
