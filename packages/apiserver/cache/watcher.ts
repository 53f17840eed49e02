import type { Status } from '@skerry/api'
import type { Clock, Timer } from '@skerry/base'
import type { ApiServerLimits } from '../limits-table.ts'
import type { BodySink, PushedBody } from '../contract/exchange.ts'
import type { UnreadBytes, UnreadShare } from '../http/unread-bytes.ts'
import type { CachedObject } from './cached-object.ts'
import type { PushTurns } from './push-turns.ts'
import {
  lastSeen,
  type CacheEvent,
  type CacheListener,
  type ResourceCache,
} from './resource-cache.ts'

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Encodes watch events in the format that one client wants. */
export interface Frames {
  /** True if all watches of one resource get the same bytes; otherwise each gets its own. */
  readonly areShared?: boolean
  event(type: WatchEventType, object: CachedObject): Uint8Array
  /** Like event('ADDED'), in parts that share the cached bytes. */
  added?(object: CachedObject): readonly Uint8Array[]
  bookmark(revision: number, options: { isInitialEnd: boolean }): Uint8Array
  /** Encodes the last event of a watch that cannot go on. */
  error(status: Status): Uint8Array
}

export interface WatcherOptions {
  readonly resource: Pick<ResourceCache, 'listen'>
  readonly frames: Frames
  readonly isSelected: (object: CachedObject) => boolean
  /** The place of all objects that it may select, as for listen(). If omitted, they may be anywhere. */
  readonly place?: string
  /** The objects that the watch starts with, sent as ADDED at the reader's pace. */
  readonly initial: readonly CachedObject[]
  /** The events since the client's revision. */
  readonly replay: readonly CacheEvent[]
  /** Events of this revision or before are not sent, even if they arrive later. */
  readonly afterRevision?: number
  /** Sent after the initial objects. */
  readonly initialBookmark: number | undefined
  readonly wantsBookmarks: boolean
  readonly timeoutMs: number
  readonly revision: () => number
}

export interface WatcherDeps {
  readonly clock: Clock
  readonly limits: ApiServerLimits
  readonly pushTurns: PushTurns
  /** Counts the bytes that only this watch keeps for its reader. Undefined for readers in this process. */
  readonly unread?: { readonly bytes: UnreadBytes; readonly user: string } | undefined
  readonly onClose?: (reason: CloseReason) => void
}

/** The reason for the end. A client that will be asked to resume gets a last bookmark. */
type CloseReason = 'timeout' | 'gone' | 'slow' | 'reset'

/**
 * Serves one watch: filters events, queues them within limits, and is read or pushed as the
 * answer's body.
 */
export class Watcher implements CacheListener, PushedBody {
  readonly #options: WatcherOptions
  readonly #limits: ApiServerLimits
  readonly #pushTurns: PushTurns
  #queue: Uint8Array[] = []
  #queuedBytes = 0
  /** The initial objects that the reader has not been sent yet; undefined once all were sent. */
  #unsent: Set<CachedObject> | undefined
  readonly #share: UnreadShare | undefined
  #lastBookmark = 0
  #isClosed = false
  /** True once the watch is closed and nobody will read the rest of the queue. */
  #isGone = false
  /** Wakes whatever waits for an event: a reader that asked, or the sink's next turn. */
  #wake: (() => void) | undefined
  readonly #onClose: ((reason: CloseReason) => void) | undefined
  readonly #listening: Disposable
  readonly #timer: Timer
  readonly #signal: AbortSignal
  readonly #onAbort = (): void => this.#close('gone')

  constructor(options: WatcherOptions, deps: WatcherDeps, signal: AbortSignal) {
    this.#options = options
    this.#limits = deps.limits
    this.#pushTurns = deps.pushTurns
    this.#onClose = deps.onClose
    this.#signal = signal
    this.#share = deps.unread?.bytes.open(deps.unread.user, () => this.#close('slow'))
    if (this.#share && options.initial.length > 0) this.#unsent = new Set(options.initial)
    this.#listening = options.resource.listen(this, options.place)
    this.#timer = deps.clock.setTimer(options.timeoutMs, () => this.#close('timeout'))
    signal.addEventListener('abort', this.#onAbort, { once: true })
    for (const event of options.replay) this.onEvent(event)
    if (signal.aborted) this.#close('gone')
  }

  onEvent(event: CacheEvent): void {
    const { frames, isSelected, afterRevision = 0 } = this.#options
    if (event.revision <= afterRevision) return
    const { previous } = event
    // The cache drops this object, so only this watch keeps it now.
    if (previous && this.#unsent?.has(previous)) this.#share?.add(previous.bytes.length)
    const wasSelected = previous !== undefined && isSelected(previous)
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
      for (const frames of this.#initialPieces()) yield Buffer.concat(frames)
      for (;;) {
        const pieces = this.#taken()
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

  pushTo(sink: BodySink): void {
    const initial = this.#initialPieces()
    let isPaused = false
    let isEnded = false
    const flush = (): void => {
      // If the reader is gone, the unread initial pieces are as useless as the events after them.
      while (!isPaused && !isEnded) {
        const next = this.#isGone ? undefined : initial.next()
        const parts = next?.done === false ? next.value : this.#taken()
        if (parts.length > 0) isPaused = !sink.write(parts)
        else if (!this.#isClosed) return
        else {
          isEnded = true
          sink.end()
        }
      }
      if (isPaused && this.#isGone && !isEnded) {
        isEnded = true
        sink.end()
      }
    }
    sink.onDrain = () => {
      isPaused = false
      flush()
    }
    this.#wake = this.#pushTurns.schedule(flush)
    flush()
  }

  #taken(): readonly Uint8Array[] {
    const parts = this.#queue
    if (parts.length === 0) return parts
    this.#queue = []
    if (!this.#options.frames.areShared) this.#share?.remove(this.#queuedBytes)
    this.#queuedBytes = 0
    return parts
  }

  /** Yields frames that are written together. The writer joins them, once. */
  *#initialPieces(): Generator<readonly Uint8Array[]> {
    const { initial, frames, initialBookmark } = this.#options
    const { firstPieceBytes, chunkBytes } = this.#limits
    let pieceBytes = firstPieceBytes
    const pieces: Uint8Array[] = []
    let bytes = 0
    for (const object of initial) {
      if (this.#isGone) return
      const parts = frames.added?.(object) ?? [frames.event('ADDED', object)]
      this.#unsent?.delete(object)
      for (const part of parts) {
        pieces.push(part)
        bytes += part.length
      }
      if (bytes < pieceBytes) continue
      // splice() removes the written frames, so that they are not kept while the reader is away.
      yield pieces.splice(0)
      // The reader took this piece, so the next one may be larger.
      pieceBytes = Math.min(pieceBytes * 2, chunkBytes)
      bytes = 0
    }
    this.#unsent = undefined
    if (initialBookmark !== undefined) {
      pieces.push(frames.bookmark(initialBookmark, { isInitialEnd: true }))
    }
    if (pieces.length > 0) yield pieces
  }

  #push(frame: Uint8Array): void {
    if (this.#isClosed) return
    this.#queue.push(frame)
    this.#queuedBytes += frame.length
    if (!this.#options.frames.areShared) this.#share?.add(frame.length)
    const { watcherEventsMax, watcherBytesMax } = this.#limits
    const isSlow = this.#queue.length > watcherEventsMax || this.#queuedBytes > watcherBytesMax
    if (isSlow) this.#close('slow')
    else this.#wake?.()
  }

  #close(reason: CloseReason): void {
    if (this.#isClosed) return
    if (reason === 'timeout') this.onBookmark(this.#options.revision())
    this.#isClosed = true
    // A slow reader would consider the rest complete; it resumes from what it has read.
    this.#isGone = reason === 'slow' || reason === 'gone'
    if (this.#isGone) this.#queue = []
    this.#unsent = undefined
    this.#share?.[Symbol.dispose]()
    this.#listening[Symbol.dispose]()
    this.#timer[Symbol.dispose]()
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#onClose?.(reason)
    this.#wake?.()
  }
}
