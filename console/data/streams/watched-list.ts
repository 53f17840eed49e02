/** One list that is watched: what is known of it, and how old that is. Pure but for its own state. */
import { HubError } from '../hub/hub-error.ts'
import type { ServerFrame, StreamEvent, TableColumn } from './stream-frames.ts'

/**
 * `loading`: nothing is known yet. `live`: it is as the server has it. `stale`: the stream is interrupted, or the tab
 * lags behind. `away`: the cluster is. `ended`: the server refuses; `error` says why.
 */
export type ListPhase = 'loading' | 'live' | 'stale' | 'away' | 'ended'

/** A picture of the list at one moment; a new one is made whenever something changed. */
export interface ListView {
  readonly phase: ListPhase
  /** The keys are `namespace/name`, and `n` for the fleet. The map itself is the list's own: read it at once. */
  readonly items: ReadonlyMap<string, unknown>
  readonly columns: readonly TableColumn[]
  /** When the list was last known to be right, by this browser's clock. */
  readonly asOfMs?: number
  readonly message?: string
  readonly retryAfterSeconds?: number
  readonly error?: HubError
}

export class WatchedList {
  #items = new Map<string, unknown>()
  /** The parts of a snapshot that has not ended. */
  #parts: Map<string, unknown> | undefined
  #columns: readonly TableColumn[] = []
  #resourceVersion: string | undefined
  #view: ListView = { phase: 'loading', items: this.#items, columns: [] }

  get view(): ListView {
    return this.#view
  }

  /** The revision at which the watch goes on; undefined before the first snapshot has ended. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion
  }

  /** Takes a frame of this watch, and reports whether anything changed that a page shows. */
  take(frame: ServerFrame, nowMs: number): boolean {
    if (frame.snapshot !== undefined) return this.#takeSnapshot(frame, frame.snapshot, nowMs)
    if (frame.events !== undefined) return this.#takeEvents(frame, frame.events, nowMs)
    if (frame.error !== undefined) return this.#end(frame.error)
    return frame.state === undefined ? false : this.#change(frame, frame.state, nowMs)
  }

  /** The stream broke off: everything stays as it was last seen. */
  interrupt(nowMs: number, message?: string): void {
    this.#parts = undefined
    if (this.#view.phase === 'ended') return
    const asOfMs = this.#view.phase === 'live' ? nowMs : this.#view.asOfMs
    const phase = this.#view.phase === 'loading' ? 'loading' : 'stale'
    this.#show({ phase, asOfMs, ...(message === undefined ? {} : { message }) })
  }

  /** The server keeps no history back to our revision: the next answer is a new snapshot. */
  forget(): void {
    this.#resourceVersion = undefined
  }

  #takeSnapshot(frame: ServerFrame, rows: readonly unknown[], nowMs: number): boolean {
    if (frame.part === undefined || frame.part === 0 || this.#parts === undefined) {
      this.#parts = new Map()
    }
    for (const row of rows) this.#parts.set(keyOf(row), row)
    if (frame.columns !== undefined) this.#columns = frame.columns
    if (frame.last === false) return false
    // A snapshot replaces: after a restore of the server's store, a merge would keep what is gone.
    this.#items = this.#parts
    this.#parts = undefined
    this.#resourceVersion = frame.resourceVersion
    this.#show({ phase: 'live', asOfMs: nowMs })
    return true
  }

  #takeEvents(frame: ServerFrame, events: readonly StreamEvent[], nowMs: number): boolean {
    for (const { t, o } of events) {
      const key = keyOf(o)
      if (t === 'D') this.#items.delete(key)
      else this.#items.set(key, o)
    }
    if (frame.resourceVersion !== undefined) this.#resourceVersion = frame.resourceVersion
    this.#show({ phase: 'live', asOfMs: nowMs })
    return events.length > 0
  }

  #change({ message, retryAfter }: ServerFrame, state: ListPhase, nowMs: number): boolean {
    const { phase, asOfMs } = this.#view
    const isKnown = this.#resourceVersion !== undefined || this.#items.size > 0
    this.#show({
      phase: state === 'live' && !isKnown ? 'loading' : state,
      asOfMs: isKnown && (phase === 'live' || state === 'live') ? nowMs : asOfMs,
      ...(message === undefined ? {} : { message }),
      ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
    })
    return true
  }

  #end(error: NonNullable<ServerFrame['error']>): boolean {
    const { code = 500, reason = 'Unknown', message = 'The watch ended', requestId } = error
    const facts = { code, reason, ...(requestId === undefined ? {} : { requestId }) }
    this.#show({ phase: 'ended', error: new HubError(message, facts) })
    return true
  }

  #show(next: {
    phase: ListPhase
    asOfMs?: number | undefined
    message?: string
    error?: HubError
  }) {
    const { asOfMs, ...others } = next
    const age = asOfMs === undefined ? {} : { asOfMs }
    this.#view = { items: this.#items, columns: this.#columns, ...others, ...age }
  }
}

interface Named {
  readonly n?: unknown
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly object?: { readonly metadata?: { readonly name?: string; readonly namespace?: string } }
}

/** Objects, rows of a Table and rows of the fleet carry their names in different places. */
function keyOf(row: unknown): string {
  if (typeof row !== 'object' || row === null) return String(row)
  const named: Named = row
  if (typeof named.n === 'string') return named.n
  const metadata = named.object?.metadata ?? named.metadata
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`
}
