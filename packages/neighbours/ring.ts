import { createHash } from 'node:crypto'
import { neighbourBounds } from './limits-table.ts'

const { askedMax } = neighbourBounds.ring

/** The questions of a group: each node asks some others. */
export interface Ring {
  /** Returns the nodes that this one asks. */
  askedBy(name: string): readonly string[]
  /** Returns the nodes that ask this one, and therefore vote about it. A node never votes about itself. */
  votersOn(name: string): readonly string[]
}

/**
 * Puts the nodes of a group on a ring by hashes of their names; each asks those that follow it, at most `askedMax`. Every
 * party that knows the same names makes the same ring, so a node cannot choose whom it votes about.
 */
export function createRing(names: Iterable<string>): Ring {
  const order = [...new Set(names)]
    .map((name) => ({ name, place: createHash('sha256').update(name).digest('hex') }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ name }) => name)
  const places = new Map(order.map((name, place) => [name, place]))
  const count = Math.min(askedMax, order.length - 1)
  const along = (name: string, step: 1 | -1): string[] => {
    const place = places.get(name)
    if (place === undefined) return []
    const steps = Array.from({ length: count }, (_, index) => (index + 1) * step)
    return steps.flatMap((each) => order.at((place + each) % order.length) ?? [])
  }
  return {
    askedBy: (name) => along(name, 1),
    votersOn: (name) => along(name, -1),
  }
}
