import { trafficClasses, type TrafficClass } from './traffic-rules.ts'

/** Bytes of frames since the tunnel began. */
export interface TrafficBytes {
  readonly sent: Readonly<Record<TrafficClass, number>>
  readonly received: Readonly<Record<TrafficClass, number>>
}

/** Counts bytes by class; it is read rarely, and updated for each frame. */
export class TrafficMeter {
  readonly #sent = trafficClasses.map(() => 0)
  readonly #received = trafficClasses.map(() => 0)

  /** Counts sent bytes; `index` is the index in `trafficClasses`. */
  onSent(index: number, bytes: number): void {
    this.#sent[index] = (this.#sent[index] ?? 0) + bytes
  }

  onReceived(index: number, bytes: number): void {
    this.#received[index] = (this.#received[index] ?? 0) + bytes
  }

  read(): TrafficBytes {
    return { sent: byClass(this.#sent), received: byClass(this.#received) }
  }
}

function byClass(counts: readonly number[]): Record<TrafficClass, number> {
  const [control = 0, interactive = 0, logs = 0, bulk = 0] = counts
  return { control, interactive, logs, bulk }
}
