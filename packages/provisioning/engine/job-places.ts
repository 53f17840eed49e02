import { parseKey } from '@skerry/client'
import type { EdgeJob } from '../kind/edge-job.ts'
import { edgeJobBounds } from '../limits-table.ts'

const { clustersOfNamespaceAtOnce } = edgeJobBounds

/** The clusters that jobs change now, in this process: at most one job on each, and as many of a job as it says. */
export class Places {
  readonly #claims = new Map<string, string>()
  readonly #changed = new Map<string, Set<string>>()

  /**
   * Takes a cluster, namespace/name, until the claim is disposed of. Returns undefined if another job has it, or if as many
   * clusters of its namespace are taken as may be.
   */
  claim(cluster: string, key: string): Disposable | undefined {
    if (this.#claims.has(cluster)) return undefined
    const { namespace } = parseKey(cluster)
    const others = [...this.#claims.keys()].filter((each) => parseKey(each).namespace === namespace)
    if (others.length >= clustersOfNamespaceAtOnce) return undefined
    this.#claims.set(cluster, key)
    return { [Symbol.dispose]: () => void this.#claims.delete(cluster) }
  }

  isClaimed(key: string): boolean {
    return [...this.#claims.values()].includes(key)
  }

  /** Takes one of the places for clusters that a job changes at once. Returns false if all are taken by others. */
  enter({ metadata }: EdgeJob, key: string, placesMax: number): boolean {
    const { uid = '' } = metadata
    const taken = this.#changed.get(uid) ?? new Set<string>()
    if (taken.has(key)) return true
    if (taken.size >= placesMax) return false
    this.#changed.set(uid, taken.add(key))
    return true
  }

  leave({ metadata }: EdgeJob, key: string): void {
    const { uid = '' } = metadata
    const taken = this.#changed.get(uid)
    taken?.delete(key)
    if (taken?.size === 0) this.#changed.delete(uid)
  }

  /** Gives back the places of an object whose job is gone. */
  forget(key: string): void {
    for (const [uid, taken] of this.#changed) {
      taken.delete(key)
      if (taken.size === 0) this.#changed.delete(uid)
    }
  }
}
