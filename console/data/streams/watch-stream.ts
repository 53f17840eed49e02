/**
 * One WebSocket carries everything that a tab watches. It is dialled with the first watch, again after every break, and
 * given back while nobody sees the tab; every list goes on at its own revision.
 */
import { streamLimits } from '../../limits-table.ts'
import type { BrowserClock, Timer } from '../browser/browser-clock.ts'
import { readFrame, type ClientFrame, type ServerFrame } from './stream-frames.ts'
import { WatchedList, type ListView } from './watched-list.ts'

/** The socket of a browser, as far as it is used. */
export interface StreamSocket {
  send(text: string): void
  close(): void
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
}

export interface StreamDeps {
  readonly clock: BrowserClock
  readonly dial: () => StreamSocket
  /** A number in [0, 1), for the jitter of reconnects. */
  readonly random: () => number
  readonly onBeat: (hubMs: number) => void
}

/** `open` is the normal state; `away` has lasted since a moment of this browser's clock. */
export type StreamState =
  | { readonly is: 'idle' | 'open' | 'resting' }
  | { readonly is: 'dialling'; readonly sinceMs: number }
  | { readonly is: 'away'; readonly sinceMs: number; readonly reason: string }

export interface WatchRequest {
  readonly path: string
  /** The server prints rows; otherwise objects come. */
  readonly isTable?: boolean
}

interface Watch {
  readonly id: number
  readonly request: WatchRequest
  readonly list: WatchedList
  readonly listeners: Set<() => void>
  credits: number
  kept?: Timer
}

export class WatchStream {
  readonly #deps: StreamDeps
  readonly #watches = new Map<string, Watch>()
  readonly #byId = new Map<number, Watch>()
  readonly #changed = new Set<Watch>()
  readonly #stateListeners = new Set<() => void>()
  #socket: StreamSocket | undefined
  #state: StreamState = { is: 'idle' }
  #nextId = 1
  #failures = 0
  #isHidden = false
  #redial: Timer | undefined
  #silence: Timer | undefined
  #isFrameDue = false
  #rest: Timer | undefined

  constructor(deps: StreamDeps) {
    this.#deps = deps
  }

  get state(): StreamState {
    return this.#state
  }

  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener)
    return () => this.#stateListeners.delete(listener)
  }

  view(request: WatchRequest): ListView | undefined {
    return this.#watches.get(keyOf(request))?.list.view
  }

  /** Watches until the returned function is called. Pages that ask for the same list share it. */
  watch(request: WatchRequest, listener: () => void): () => void {
    const watch = this.#watches.get(keyOf(request)) ?? this.#add(request)
    watch.kept?.cancel()
    delete watch.kept
    watch.listeners.add(listener)
    return () => {
      watch.listeners.delete(listener)
      if (watch.listeners.size > 0 || watch.kept !== undefined) return
      watch.kept = this.#deps.clock.after(streamLimits.keptMs, () => this.#remove(watch))
    }
  }

  /** Asks again for a list that ended, or that waits for its cluster. */
  retry(request: WatchRequest): void {
    const watch = this.#watches.get(keyOf(request))
    if (watch === undefined) return
    watch.list.forget()
    if (this.#state.is === 'open') {
      this.#send({ close: watch.id })
      this.#openWatch(watch)
    } else this.redial()
  }

  /** Dials at once in place of waiting. */
  redial(): void {
    if (this.#state.is !== 'away') return
    this.#redial?.cancel()
    this.#dial()
  }

  /** A tab that nobody sees for a while rests: it costs the hub nothing. */
  setHidden(isHidden: boolean): void {
    this.#isHidden = isHidden
    this.#rest?.cancel()
    if (isHidden) {
      this.#rest = this.#deps.clock.after(streamLimits.hiddenMsMax, () => this.#close('resting'))
      return
    }
    this.wake()
  }

  /** Gives the socket back until `wake`, and keeps every list as it was last seen: a session ended, and may begin again. */
  rest(): void {
    this.#close('resting')
    for (const watch of this.#watches.values()) this.#publish(watch)
  }

  wake(): void {
    if (this.#state.is === 'resting' && this.#watches.size > 0) this.#dial()
    else this.redial()
  }

  /** Ends all watches, for a session that ended. */
  stop(): void {
    this.#close('idle')
    for (const watch of this.#watches.values()) this.#remove(watch)
  }

  #add(request: WatchRequest): Watch {
    this.#makeRoom()
    const watch: Watch = {
      id: this.#nextId++,
      request,
      list: new WatchedList(),
      listeners: new Set(),
      credits: 0,
    }
    this.#watches.set(keyOf(request), watch)
    this.#byId.set(watch.id, watch)
    if (this.#state.is === 'open') this.#openWatch(watch)
    else if (this.#state.is === 'idle') this.#dial()
    return watch
  }

  /** Lists that no page shows any longer make way for new ones. */
  #makeRoom(): void {
    if (this.#watches.size < streamLimits.watchesMax) return
    const unseen = [...this.#watches.values()].find(({ listeners }) => listeners.size === 0)
    if (unseen !== undefined) this.#remove(unseen)
  }

  #remove(watch: Watch): void {
    watch.kept?.cancel()
    this.#watches.delete(keyOf(watch.request))
    this.#byId.delete(watch.id)
    this.#changed.delete(watch)
    if (this.#state.is === 'open') this.#send({ close: watch.id })
  }

  #openWatch(watch: Watch): void {
    // Each opening has an id of its own, so that late frames of the one before are nobody's.
    this.#byId.delete(watch.id)
    const next = Object.assign(watch, { id: this.#nextId++, credits: streamLimits.credits })
    this.#byId.set(next.id, next)
    const { path, isTable } = watch.request
    const { resourceVersion } = watch.list
    this.#send({
      open: next.id,
      path,
      ...(isTable ? { table: true } : {}),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    })
  }

  #dial(): void {
    const sinceMs = this.#state.is === 'away' ? this.#state.sinceMs : this.#deps.clock.nowMs()
    const socket = this.#deps.dial()
    this.#socket = socket
    if (this.#state.is !== 'away') this.#setState({ is: 'dialling', sinceMs })
    socket.onopen = () => {
      if (this.#socket !== socket) return
      this.#failures = 0
      this.#setState({ is: 'open' })
      this.#hear()
      for (const watch of this.#watches.values()) this.#openWatch(watch)
    }
    socket.onmessage = ({ data }) => {
      if (this.#socket === socket && typeof data === 'string') this.#take(data)
    }
    socket.onclose = ({ reason }) => {
      if (this.#socket === socket) this.#lose(reason)
    }
    this.#hear()
  }

  #take(text: string): void {
    this.#hear()
    const frame = readFrame(text)
    if (frame === undefined) return
    if (frame.beat !== undefined) this.#deps.onBeat(frame.beat)
    const watch = frame.id === undefined ? undefined : this.#byId.get(frame.id)
    if (watch === undefined) return
    if (isExpired(frame)) {
      watch.list.forget()
      this.#openWatch(watch)
      return
    }
    const isChanged = watch.list.take(frame, this.#deps.clock.nowMs())
    this.#spendCredit(watch, frame)
    if (isChanged) this.#publish(watch)
  }

  #spendCredit(watch: Watch, frame: ServerFrame): void {
    if (frame.snapshot === undefined && frame.events === undefined) return
    watch.credits -= 1
    if (watch.credits > streamLimits.credits / 2) return
    const credits = streamLimits.credits - watch.credits
    watch.credits += credits
    this.#send({ more: watch.id, credits })
  }

  /** However many frames come, pages are drawn once before the browser draws. */
  #publish(watch: Watch): void {
    this.#changed.add(watch)
    if (this.#isFrameDue) return
    this.#isFrameDue = true
    this.#deps.clock.onFrame(() => {
      this.#isFrameDue = false
      const changed = [...this.#changed]
      this.#changed.clear()
      for (const { listeners } of changed) for (const listener of listeners) listener()
    })
  }

  /** Waits for the next sign of life. */
  #hear(): void {
    this.#silence?.cancel()
    const socket = this.#socket
    this.#silence = this.#deps.clock.after(streamLimits.silenceMsMax, () => {
      if (socket === undefined || this.#socket !== socket) return
      this.#lose('silent')
      socket.close()
    })
  }

  #lose(reason: string): void {
    this.#socket = undefined
    this.#silence?.cancel()
    const nowMs = this.#deps.clock.nowMs()
    const sinceMs = this.#state.is === 'away' ? this.#state.sinceMs : nowMs
    for (const watch of this.#watches.values()) {
      watch.list.interrupt(nowMs)
      this.#publish(watch)
    }
    this.#setState({ is: 'away', sinceMs, reason })
    if (this.#isHidden) return
    const { reconnectMsMin, reconnectMsMax } = streamLimits
    const ceilingMs = Math.min(reconnectMsMax, reconnectMsMin * 2 ** this.#failures)
    this.#failures += 1
    const waitMs = ceilingMs * (0.5 + this.#deps.random() / 2)
    this.#redial = this.#deps.clock.after(waitMs, () => this.#dial())
  }

  #close(is: 'idle' | 'resting'): void {
    this.#redial?.cancel()
    this.#silence?.cancel()
    const socket = this.#socket
    this.#socket = undefined
    const nowMs = this.#deps.clock.nowMs()
    for (const { list } of this.#watches.values()) list.interrupt(nowMs)
    this.#setState({ is })
    socket?.close()
  }

  #send(frame: ClientFrame): void {
    this.#socket?.send(JSON.stringify(frame))
  }

  #setState(state: StreamState): void {
    this.#state = state
    for (const listener of this.#stateListeners) listener()
  }
}

function keyOf({ path, isTable }: WatchRequest): string {
  return `${isTable ? 'table' : 'list'} ${path}`
}

/** The server's history no longer reaches back to the revision at which the watch would go on. */
function isExpired({ error }: ServerFrame): boolean {
  return error?.code === 410
}
