import type { OutgoingBytes } from './outgoing-bytes.ts'
import type { StreamTraffic } from './stream-traffic.ts'
import { trafficClasses, type TrafficRules } from './traffic-rules.ts'

/** A stream that may have something to send. */
export interface Sender {
  readonly id: number
  readonly outgoing: OutgoingBytes
  readonly traffic: StreamTraffic
  /** Called when bytes were taken. */
  onTaken(): void
}

/** The streams of one class: those that had nothing waiting come before those that had their turn. */
interface Line {
  readonly fresh: Sender[]
  readonly rest: Sender[]
}

/**
 * Decides which stream sends next. More urgent classes come first, but each waiting class accumulates its
 * floor's share of all bytes sent meanwhile, and one that is owed a whole turn comes first.
 */
export class TurnOrder {
  readonly #lines: readonly Line[] = trafficClasses.map(() => ({ fresh: [], rest: [] }))
  readonly #waiting = new Set<Sender>()
  readonly #owedBytes = trafficClasses.map(() => 0)
  readonly #floors = trafficClasses.map(() => 0)

  constructor(rules: TrafficRules) {
    this.setFloors(rules)
  }

  setFloors({ floors }: TrafficRules): void {
    for (const [index, name] of trafficClasses.entries()) this.#floors[index] = floors[name]
    this.#owedBytes.fill(0)
  }

  get size(): number {
    return this.#waiting.size
  }

  /** False when it waits already. */
  add(sender: Sender, isFresh: boolean): boolean {
    if (this.#waiting.has(sender)) return false
    const line = this.#lines[sender.traffic.index]
    if (line === undefined) return false
    this.#waiting.add(sender)
    if (isFresh) line.fresh.push(sender)
    else line.rest.push(sender)
    return true
  }

  /** Returns the next sender; `turnBytes` is the most that one turn takes. */
  next(turnBytes: number): Sender | undefined {
    if (this.#waiting.size === 0) return undefined
    const line = this.#owed(turnBytes) ?? this.#first()
    const sender = line?.fresh.shift() ?? line?.rest.shift()
    if (sender) this.#waiting.delete(sender)
    return sender
  }

  /** A stream of the class with this index has had its turn. */
  onSent(index: number, bytes: number): void {
    // If nobody else waits, nobody is owed anything.
    if (this.#waiting.size === 0) return
    for (let other = 0; other < trafficClasses.length; other += 1) {
      const part = this.#isWaiting(other) || other === index ? (this.#floors[other] ?? 0) : 0
      const owed = part === 0 ? 0 : (this.#owedBytes[other] ?? 0) + bytes * part
      this.#owedBytes[other] = other === index ? Math.max(0, owed - bytes) : owed
    }
  }

  #owed(turnBytes: number): Line | undefined {
    for (let index = 0; index < trafficClasses.length; index += 1) {
      if ((this.#owedBytes[index] ?? 0) >= turnBytes && this.#isWaiting(index)) {
        return this.#lines[index]
      }
    }
    return undefined
  }

  #first(): Line | undefined {
    for (let index = 0; index < trafficClasses.length; index += 1) {
      if (this.#isWaiting(index)) return this.#lines[index]
    }
    return undefined
  }

  #isWaiting(index: number): boolean {
    const line = this.#lines[index]
    return line !== undefined && line.fresh.length + line.rest.length > 0
  }
}
