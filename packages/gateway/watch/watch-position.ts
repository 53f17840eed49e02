import type { EventHead } from './event-head.ts'
import { gatewayBounds } from '../limits-table.ts'

const { versionCharsMax } = gatewayBounds.watchPosition

export interface WatchStart {
  /** The version as the client sent it; empty if it sent none. */
  readonly resourceVersion: string
  /** The value as the client sent it; undefined if it sent none. */
  readonly sendInitialEvents: boolean | undefined
}

/**
 * Tracks the resourceVersion from which a watch could be requested again without missing or repeating an
 * event. Events come in the order of their versions, except for the initial ones, so a watch cannot continue
 * from one of those (KEP-3157).
 */
export class WatchPosition {
  #version: string | undefined
  /**
   * State `marked`: a bookmark marks the end of the initial events. State `unmarked`: only the first event
   * other than ADDED does.
   */
  #initial: 'over' | 'marked' | 'unmarked'
  #hasFailed = false

  constructor({ resourceVersion, sendInitialEvents }: WatchStart) {
    const isFromNow = resourceVersion === '' || resourceVersion === '0'
    const isUnmarked = isFromNow && sendInitialEvents === undefined
    this.#initial = sendInitialEvents ? 'marked' : isUnmarked ? 'unmarked' : 'over'
    if (!isFromNow && !sendInitialEvents) this.#version = resourceVersion
  }

  /** The version from which the watch can be resumed; undefined if that is impossible now. */
  get version(): string | undefined {
    return this.#version
  }

  /** True if the watch ended with an ERROR event: no events follow. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /**
   * True while initial events may be missing. A reader must not take an end here for a whole watch, because
   * only the bookmark would mark it.
   */
  get isInitial(): boolean {
    return this.#initial !== 'over'
  }

  /** Records an event; undefined stands for one that could not be read. */
  onEvent(event: EventHead | undefined): void {
    if (event?.type === 'ERROR') {
      this.#hasFailed = true
      this.#version = undefined
      return
    }
    if (event && this.#initial !== 'over') this.#initial = this.#initialAfter(event)
    const { version = '' } = event ?? {}
    const isUsable = version !== '' && version.length <= versionCharsMax
    this.#version = isUsable && this.#initial === 'over' ? version : undefined
  }

  #initialAfter({ type, isInitialEnd }: EventHead): 'over' | 'marked' | 'unmarked' {
    if (this.#initial === 'marked') return isInitialEnd ? 'over' : 'marked'
    return type === 'ADDED' ? 'unmarked' : 'over'
  }
}
