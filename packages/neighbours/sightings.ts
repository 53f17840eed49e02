import { neighbourBounds } from './limits-table.ts'
import type { Word } from './word.ts'

const { missesMin } = neighbourBounds.neighbours

interface Sighting {
  /** Undefined until the first answer, or until enough failures. */
  isSeen: boolean | undefined
  /** The failures since the last answer. */
  misses: number
}

/** Counts which neighbours answer. One answer is enough to be seen, several failures in a row to be missed. */
export class Sightings {
  readonly #known = new Map<string, Sighting>()

  onAnswer(name: string): void {
    this.#known.set(name, { isSeen: true, misses: 0 })
  }

  onFailure(name: string): void {
    const { isSeen, misses } = this.#known.get(name) ?? { isSeen: undefined, misses: 0 }
    const isMissed = misses + 1 >= missesMin
    this.#known.set(name, { isSeen: isMissed ? false : isSeen, misses: misses + 1 })
  }

  /** Forgets all others. */
  keepOnly(names: readonly string[]): void {
    const kept = new Set(names)
    for (const name of this.#known.keys()) if (!kept.has(name)) this.#known.delete(name)
  }

  get word(): Word {
    const withSight = (wanted: boolean): string[] =>
      [...this.#known].flatMap(([name, { isSeen }]) => (isSeen === wanted ? [name] : [])).toSorted()
    return { seen: withSight(true), missed: withSight(false) }
  }
}
