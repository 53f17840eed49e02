import type { Clock, Timer } from '@skerry/base'
import type { Pod } from '@skerry/api'
import type { ClusterEvent } from './framework/cluster-event.ts'

export interface QueuedPod {
  readonly pod: Pod
  /** Tries that found no node. */
  readonly attempts: number
}

/** Whether the event is worth another try for a pod that these plugins refused. */
export type HelpJudge = (event: ClusterEvent, pod: Pod, plugins: ReadonlySet<string>) => boolean

export const queueDefaults = Object.freeze({
  /** Wait after the first try that found no node; doubles with each. Upstream's figures. */
  backoffInitialMs: 1_000,
  backoffMaxMs: 10_000,
  /** A pod nobody woke is tried again after this long, in case an event was missed. */
  unschedulableMsMax: 5 * 60_000,
  /** Events remembered while a pod is being tried; with more, it is simply tried again. */
  eventsMax: 256,
})

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
  /** Order among equals. */
  arrival: number
  /** `failed` waits after an error; `backoff` may be taken early when nothing else is to do. */
  state: 'active' | 'backoff' | 'failed' | 'unschedulable' | 'out'
  /** The plugins that refused it last. */
  refusedBy: ReadonlySet<string>
  /** Seen while the pod was being tried: its refusal may be old. */
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

  /** A new pod, or a new version of one that waits. */
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
   * The most important pod that is ready; highest priority first, then the one that came first.
   * With nothing ready, one whose backoff is not over: waiting is to let others go first.
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

  /** The try found no node: wait for the world to change, or a while. */
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

  /** The try failed for another reason (the server was away): again after the backoff. */
  retry(uid: string): void {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return
    this.#endTry(entry)
    this.#backOff(entry, 'failed')
  }

  /** Something changed: wakes the pods that it may let in. */
  onEvent(event: ClusterEvent): void {
    for (const entry of this.#entries.values()) {
      if (entry.state === 'out') {
        if (entry.events.length < queueDefaults.eventsMax) entry.events.push(event)
      } else if (entry.state === 'unschedulable') {
        if (this.#options.helps(event, entry.pod, entry.refusedBy)) this.#backOff(entry, 'backoff')
      }
    }
  }

  /** Looks at the pod again, whatever refused it. */
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

  /** Lets go of all timers. */
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

/** Ready ones before those in backoff, then by priority, then by arrival. */
function comesBefore(a: Entry, b: Entry): boolean {
  if (a.state !== b.state) return a.state === 'active'
  const byPriority = (b.pod.spec?.priority ?? 0) - (a.pod.spec?.priority ?? 0)
  return byPriority === 0 ? a.arrival < b.arrival : byPriority < 0
}
