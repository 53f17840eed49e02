import type { Clock, Timer } from '@skerry/base'
import type { Pod } from '@skerry/api'
import type { ClusterEvent } from './framework/cluster-event.ts'
import { queueDefaults } from './limits-table.ts'

export interface QueuedPod {
  readonly pod: Pod
  /** The number of tries that found no node. */
  readonly attempts: number
}

/** Returns true if the event is worth another try for a pod that these plugins refused. */
export type HelpJudge = (event: ClusterEvent, pod: Pod, plugins: ReadonlySet<string>) => boolean

export interface QueueOptions {
  clock: Clock
  onReady: () => void
  helps: HelpJudge
  backoffInitialMs?: number
  backoffMaxMs?: number
}

interface Entry {
  pod: Pod
  attempts: number
  /** The order among equals. */
  arrival: number
  /** `failed` waits after an error; `backoff` may be taken early if there is nothing else to do. */
  state: 'active' | 'backoff' | 'failed' | 'unschedulable' | 'out'
  /** The plugins that refused it last. */
  refusedBy: ReadonlySet<string>
  /** Events seen while the pod was being tried, which may make its refusal outdated. */
  events: ClusterEvent[]
  hasChanged: boolean
  backoffEndMs: number
  timer: Timer | undefined
}

/** Pods that wait for a node: the most important first, each at most once. */
export class SchedulingQueue {
  readonly #entries = new Map<string, Entry>()
  readonly #options: QueueOptions
  #arrivals = 0

  constructor(options: QueueOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** Adds a new pod, or a new version of a waiting one. */
  put(pod: Pod, hasChanged: boolean): void {
    const uid = pod.metadata.uid ?? ''
    const known = this.#entries.get(uid)
    if (known === undefined) {
      this.#entries.set(uid, newEntry(pod, this.#arrivals++))
      this.#options.onReady()
      return
    }
    known.pod = pod
    if (!hasChanged) return
    if (known.state === 'out') known.hasChanged = true
    else if (known.state === 'unschedulable') this.#backOff(known, 'backoff')
  }

  remove(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return
    this.#stopTimer(entry)
    this.#entries.delete(uid)
  }

  /**
   * Returns the most important ready pod: highest priority first, then the one that came first. If
   * none is ready, returns one whose backoff is not over, because a backoff only serves to let
   * others go first.
   */
  take(): QueuedPod | undefined {
    let best: Entry | undefined
    for (const entry of this.#entries.values()) {
      if (entry.state !== 'active' && entry.state !== 'backoff') continue
      if (best === undefined || comesBefore(entry, best)) best = entry
    }
    if (best === undefined) return undefined
    this.#stopTimer(best)
    best.state = 'out'
    best.events = []
    best.hasChanged = false
    return { pod: best.pod, attempts: best.attempts }
  }

  /** Records that the try found no node: the pod waits for a change, or for some time. */
  giveBack(uid: string, refusedBy: ReadonlySet<string>): void {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return
    this.#endTry(entry)
    entry.refusedBy = refusedBy
    const isWorthIt =
      entry.hasChanged ||
      entry.events.length >= queueDefaults.eventsMax ||
      entry.events.some((event) => this.#options.helps(event, entry.pod, refusedBy))
    if (isWorthIt) this.#backOff(entry, 'backoff')
    else this.#wait(entry, 'unschedulable', queueDefaults.unschedulableMsMax)
  }

  /**
   * Records that the try failed for another reason (the server was unreachable): the pod is tried
   * again after the backoff.
   */
  retry(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return
    this.#endTry(entry)
    this.#backOff(entry, 'failed')
  }

  /** Wakes the pods that a change may make schedulable. */
  onEvent(event: ClusterEvent): void {
    for (const entry of this.#entries.values()) {
      if (entry.state === 'out') {
        if (entry.events.length < queueDefaults.eventsMax) entry.events.push(event)
      } else if (entry.state === 'unschedulable') {
        if (this.#options.helps(event, entry.pod, entry.refusedBy)) this.#backOff(entry, 'backoff')
      }
    }
  }

  /** Tries the pod again, whatever refused it. */
  wake(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry?.state === 'out') entry.hasChanged = true
    else if (entry?.state === 'unschedulable') this.#backOff(entry, 'backoff')
  }

  #endTry(entry: Entry): void {
    const { backoffInitialMs, backoffMaxMs } = { ...queueDefaults, ...this.#options }
    entry.attempts += 1
    const backoffMs = Math.min(
      backoffMaxMs,
      backoffInitialMs * 2 ** Math.min(entry.attempts - 1, 30),
    )
    entry.backoffEndMs = this.#options.clock.monotonicMs() + backoffMs
  }

  #backOff(entry: Entry, state: 'backoff' | 'failed'): void {
    const leftMs = entry.backoffEndMs - this.#options.clock.monotonicMs()
    if (leftMs > 0) this.#wait(entry, state, leftMs)
    else {
      this.#stopTimer(entry)
      entry.state = 'active'
    }
    if (entry.state !== 'failed') this.#options.onReady()
  }

  #wait(entry: Entry, state: 'backoff' | 'failed' | 'unschedulable', ms: number): void {
    this.#stopTimer(entry)
    entry.state = state
    entry.timer = this.#options.clock.setTimer(ms, () => {
      entry.timer = undefined
      entry.state = 'active'
      this.#options.onReady()
    })
  }

  #stopTimer(entry: Entry): void {
    entry.timer?.[Symbol.dispose]()
    entry.timer = undefined
  }

  /** Cancels all timers. */
  [Symbol.dispose](): void {
    for (const entry of this.#entries.values()) this.#stopTimer(entry)
    this.#entries.clear()
  }
}

function newEntry(pod: Pod, arrival: number): Entry {
  return {
    pod,
    attempts: 0,
    arrival,
    state: 'active',
    refusedBy: new Set(),
    events: [],
    hasChanged: false,
    backoffEndMs: 0,
    timer: undefined,
  }
}

/** Sorts ready pods before those in backoff, then by priority, then by arrival. */
function comesBefore(a: Entry, b: Entry): boolean {
  if (a.state !== b.state) return a.state === 'active'
  const byPriority = (b.pod.spec?.priority ?? 0) - (a.pod.spec?.priority ?? 0)
  return byPriority === 0 ? a.arrival < b.arrival : byPriority < 0
}
