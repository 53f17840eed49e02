import type { Status } from '@skerry/api'
import type { Clock, Timer } from '@skerry/base'
import type { ApiServerLimits } from '../limits-table.ts'
import type { CachedObject } from './cached-object.ts'
import {
  lastSeen,
  type CacheEvent,
  type CacheListener,
  type ResourceCache,
} from './resource-cache.ts'

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Writes watch events as one client wants to read them. */
export interface Frames {
  event(type: WatchEventType, object: CachedObject): Uint8Array
  bookmark(revision: number, options: { isInitialEnd: boolean }): Uint8Array
  /** The last event of a watch that cannot go on. */
  error(status: Status): Uint8Array
}

export interface WatcherOptions {
  readonly resource: Pick<ResourceCache, 'listen'>
  readonly frames: Frames
  readonly isSelected: (object: CachedObject) => boolean
  /** What the watch starts with; sent as ADDED at the reader's pace. */
  readonly initial: readonly CachedObject[]
  /** Events since the client's revision. */
  readonly replay: readonly CacheEvent[]
  /** Nothing of this revision or before is told, also when it comes later. */
  readonly afterRevision?: number
  /** Sent after the initial objects. */
  readonly initialBookmark: number | undefined
  readonly wantsBookmarks: boolean
  readonly timeoutMs: number
  readonly revision: () => number
}

/** A client about to be told to resume gets a last bookmark. */
type CloseReason = 'timeout' | 'gone' | 'slow' | 'reset'

/** One watch: filters events, queues them within bounds, and is read as the answer's body. */
export class Watcher implements CacheListener, AsyncIterable<Uint8Array> {
  readonly #options: WatcherOptions
  readonly #limits: ApiServerLimits
  #queue: Uint8Array[] = []
  #queuedBytes = 0
  #lastBookmark = 0
  #isClosed = false
  #wake: (() => void) | undefined
  readonly #onClose: ((reason: CloseReason) => void) | undefined
  readonly #listening: Disposable
  readonly #timer: Timer
  readonly #signal: AbortSignal
  readonly #onAbort = (): void => this.#close('gone')

  constructor(
    options: WatcherOptions,
    deps: { clock: Clock; limits: ApiServerLimits; onClose?: (reason: CloseReason) => void },
    signal: AbortSignal,
  ) {
    this.#options = options
    this.#limits = deps.limits
    this.#onClose = deps.onClose
    this.#signal = signal
    this.#listening = options.resource.listen(this)
    this.#timer = deps.clock.setTimer(options.timeoutMs, () => this.#close('timeout'))
    signal.addEventListener('abort', this.#onAbort, { once: true })
    for (const event of options.replay) this.onEvent(event)
    if (signal.aborted) this.#close('gone')
  }

  onEvent(event: CacheEvent): void {
    const { frames, isSelected, afterRevision = 0 } = this.#options
    if (event.revision <= afterRevision) return
    const wasSelected = event.previous !== undefined && isSelected(event.previous)
    if (event.type === 'delete') {
      if (wasSelected) this.#push(frames.event('DELETED', event.object))
      return
    }
    const isNow = isSelected(event.object)
    if (isNow) this.#push(frames.event(wasSelected ? 'MODIFIED' : 'ADDED', event.object))
    else if (wasSelected) this.#push(frames.event('DELETED', lastSeen(event)))
  }

  onBookmark(revision: number): void {
    if (!this.#options.wantsBookmarks || revision <= this.#lastBookmark || this.#isClosed) return
    if (revision < (this.#options.afterRevision ?? 0)) return
    this.#lastBookmark = revision
    this.#push(this.#options.frames.bookmark(revision, { isInitialEnd: false }))
  }

  onReset(): void {
    this.#close('reset')
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* this.#initialPieces()
      for (;;) {
        const pieces = this.#queue
        this.#queue = []
        this.#queuedBytes = 0
        if (pieces.length === 1 && pieces[0]) yield pieces[0]
        else if (pieces.length > 1) yield Buffer.concat(pieces)
        if (this.#queue.length > 0) continue
        if (this.#isClosed) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        this.#wake = undefined
      }
    } finally {
      this.#close('gone')
    }
  }

  *#initialPieces(): Generator<Uint8Array> {
    const { initial, frames, initialBookmark } = this.#options
    let pieces: Uint8Array[] = []
    let bytes = 0
    for (const object of initial) {
      const frame = frames.event('ADDED', object)
      pieces.push(frame)
      bytes += frame.length
      if (bytes < this.#limits.chunkBytes) continue
      yield Buffer.concat(pieces, bytes)
      pieces = []
      bytes = 0
    }
    if (initialBookmark !== undefined) {
      pieces.push(frames.bookmark(initialBookmark, { isInitialEnd: true }))
    }
    if (pieces.length > 0) yield Buffer.concat(pieces)
  }

  #push(frame: Uint8Array): void {
    if (this.#isClosed) return
    this.#queue.push(frame)
    this.#queuedBytes += frame.length
    const { watcherEventsMax, watcherBytesMax } = this.#limits
    const isSlow = this.#queue.length > watcherEventsMax || this.#queuedBytes > watcherBytesMax
    if (isSlow) this.#close('slow')
    else this.#wake?.()
  }

  #close(reason: CloseReason): void {
    if (this.#isClosed) return
    if (reason === 'timeout') this.onBookmark(this.#options.revision())
    this.#isClosed = true
    // A slow reader would take the rest for complete; it resumes from what it has read.
    if (reason === 'slow' || reason === 'gone') this.#queue = []
    this.#listening[Symbol.dispose]()
    this.#timer[Symbol.dispose]()
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#onClose?.(reason)
    this.#wake?.()
  }
}
