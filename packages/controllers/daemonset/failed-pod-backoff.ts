import { controllerBounds } from '../limits-table.ts'

const { firstMs, maxMs } = controllerBounds.failedPodBackoff

interface Entry {
  delayMs: number
  atMs: number
}

/**
 * Delays the replacement of failed pods, so that a pod that fails at once is not replaced as fast
 * as it fails. Each failure on a node doubles the wait, from 1 s to 15 min; as long without one
 * resets it.
 */
export class FailedPodBackoff {
  readonly #entries = new Map<string, Entry>()

  /** Returns how long until the node's next pod may be replaced; 0 means now. */
  remainingMs(key: string, nowMs: number): number {
    const entry = this.#entries.get(key)
    return entry ? Math.max(0, entry.atMs + entry.delayMs - nowMs) : 0
  }

  onFailure(key: string, nowMs: number): void {
    const entry = this.#entries.get(key)
    const isRecent = entry !== undefined && nowMs - entry.atMs < 2 * maxMs
    const delayMs = isRecent ? Math.min(maxMs, 2 * entry.delayMs) : firstMs
    this.#entries.set(key, { delayMs, atMs: nowMs })
    for (const [other, { atMs }] of this.#entries) {
      if (nowMs - atMs >= 2 * maxMs) this.#entries.delete(other)
    }
  }
}
