import type { EventHead } from './event-head.ts'

/** The API promises no more than that a version is a string; upstream's have at most 20 characters. */
const versionCharsMax = 128

export interface WatchStart {
  /** As the client sent it; empty: none. */
  readonly resourceVersion: string
  /** As the client sent it; undefined: not at all. */
  readonly sendInitialEvents: boolean | undefined
}

/**
 * Where a watch has come to: from which resourceVersion it could be asked for again so that nothing is
 * missing and nothing comes twice. Events come in the order of their versions; only the initial ones do
 * not, so that none of theirs is a place to go on from (KEP-3157).
 */
export class WatchPosition {
  #version: string | undefined
  /** `marked`: a bookmark tells their end. `unmarked`: nothing does, until something else than ADDED comes. */
  #initial: 'over' | 'marked' | 'unmarked'
  #hasFailed = false

  constructor({ resourceVersion, sendInitialEvents }: WatchStart) {
    const isFromNow = resourceVersion === '' || resourceVersion === '0'
    const isUnmarked = isFromNow && sendInitialEvents === undefined
    this.#initial = sendInitialEvents ? 'marked' : isUnmarked ? 'unmarked' : 'over'
    if (!isFromNow && !sendInitialEvents) this.#version = resourceVersion
  }

  /** Undefined: it cannot be resumed now. */
  get version(): string | undefined {
    return this.#version
  }

  /** It ended by an ERROR event: nothing more comes of it. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /**
   * Whoever reads it may not take an end here for a whole watch: initial events are missing, and only
   * their bookmark would tell.
   */
  get isInitial(): boolean {
    return this.#initial !== 'over'
  }

  /** Undefined: an event that could not be read. */
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
