import type { Clock, Timer } from '@skerry/base'
import type { Pod } from '@skerry/api'

export interface QueuedPod {
  readonly pod: Pod
  /** Tries that found no node. */
  readonly attempts: number
}

export const queueDefaults = Object.freeze({
  /** Wait after the first try that found no node; doubles with each. Upstream's figures. */
  backoffInitialMs: 1_000,
  backoffMaxMs: 10_000,
  /** A pod nobody woke is tried again after this long, in case an event was missed. */
  unschedulableMsMax: 5 * 60_000,
})

interface Entry {
  pod: Pod
  attempts: number
  /** Order among equals. */
  arrival: number
  state: 'active' | 'backoff' | 'unschedulable' | 'out'
  /** The world changed while the pod was being tried: its refusal may be old. */
  isStale: boolean
  timer: Timer | undefined
}

/** Pods that wait for a node: the most important first, each at most once. */
export class SchedulingQueue {
  readonly #entries = new Map<string, Entry>()
  readonly #clock: Clock
  readonly #onReady: () => void
  #arrivals = 0

  constructor(clock: Clock, onReady: () => void) {
    this.#clock = clock
    this.#onReady = onReady
  }

  get size(): number {
    return this.#entries.size
  }

  /** A new pod, or a new version of one that waits. */
  put(pod: Pod, hasChanged: boolean): void {
    const uid = pod.metadata.uid ?? ''
    const known = this.#entries.get(uid)
    if (known === undefined) {
      this.#entries.set(uid, {
        pod,
        attempts: 0,
        arrival: this.#arrivals++,
        state: 'active',
        isStale: false,
        timer: undefined,
      })
      this.#onReady()
      return
    }
    known.pod = pod
    if (hasChanged) this.#wake(known)
  }

  remove(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return
    this.#stopTimer(entry)
    this.#entries.delete(uid)
  }

  /** The most important pod that is ready; highest priority first, then the one that came first. */
  take(): QueuedPod | undefined {
    let best: Entry | undefined
    for (const entry of this.#entries.values()) {
      if (entry.state === 'active' && (best === undefined || comesBefore(entry, best))) best = entry
    }
    if (best === undefined) return undefined
    best.state = 'out'
    best.isStale = false
    return { pod: best.pod, attempts: best.attempts }
  }

  /** The try found no node: wait for the world to change, or a while. */
  giveBack(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return
    entry.attempts += 1
    if (entry.isStale) this.#backOff(entry)
    else this.#wait(entry, 'unschedulable', queueDefaults.unschedulableMsMax)
  }

  /** The try failed for another reason (the server was away): again after the backoff. */
  retry(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return
    entry.attempts += 1
    this.#backOff(entry)
  }

  /** Something changed that may let pods in. */
  wakeAll(): void {
    for (const entry of this.#entries.values()) this.#wake(entry)
  }

  #wake(entry: Entry): void {
    if (entry.state === 'out') entry.isStale = true
    else if (entry.state === 'unschedulable') this.#backOff(entry)
  }

  #backOff(entry: Entry): void {
    const { backoffInitialMs, backoffMaxMs } = queueDefaults
    const exponent = Math.max(0, entry.attempts - 1)
    this.#wait(
      entry,
      'backoff',
      Math.min(backoffMaxMs, backoffInitialMs * 2 ** Math.min(exponent, 10)),
    )
  }

  #wait(entry: Entry, state: 'backoff' | 'unschedulable', ms: number): void {
    this.#stopTimer(entry)
    entry.state = state
    entry.timer = this.#clock.setTimer(ms, () => {
      entry.timer = undefined
      entry.state = 'active'
      this.#onReady()
    })
  }

  #stopTimer(entry: Entry): void {
    entry.timer?.[Symbol.dispose]()
    entry.timer = undefined
  }

  /** Lets go of all timers. */
  [Symbol.dispose](): void {
    for (const entry of this.#entries.values()) this.#stopTimer(entry)
    this.#entries.clear()
  }
}

function comesBefore(a: Entry, b: Entry): boolean {
  const byPriority = (b.pod.spec?.priority ?? 0) - (a.pod.spec?.priority ?? 0)
  return byPriority === 0 ? a.arrival < b.arrival : byPriority < 0
}
