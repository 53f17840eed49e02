import type { FleetBoard } from './fleet-board.ts'

/** The difference between the rows that a reader has and those that it may have now. */
export interface FleetDelta {
  /** The JSON of each changed row. */
  readonly changed: readonly string[]
  readonly gone: readonly string[]
}

/** Remembers which rows one reader has. */
export class FleetReader {
  readonly #board: Pick<FleetBoard, 'rows'>
  /** The step of each row that was sent. */
  readonly #sent = new Map<string, number>()

  constructor(board: Pick<FleetBoard, 'rows'>) {
    this.#board = board
  }

  /** Returns what to send to a reader who may see these clusters, and counts it as sent. */
  take(visible: ReadonlySet<string>): FleetDelta {
    const changed: string[] = []
    for (const { name, text, step } of this.#board.rows.values()) {
      if (!visible.has(name) || this.#sent.get(name) === step) continue
      this.#sent.set(name, step)
      changed.push(text)
    }
    const gone = [...this.#sent.keys()].filter(
      (name) => !visible.has(name) || !this.#board.rows.has(name),
    )
    for (const name of gone) this.#sent.delete(name)
    return { changed, gone }
  }
}
