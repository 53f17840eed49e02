import { firstCreditBytes, FrameError } from '../frame/tunnel-frame.ts'
import { tunnelBounds, type TunnelLimits } from '../limits-table.ts'

export type WindowLimits = Pick<
  TunnelLimits,
  'streamWindowBytes' | 'streamWindowBytesMin' | 'bufferedBytesMax'
>

const { sharesMin, eagerWindowBytes } = tunnelBounds.sessionWindow
/** One in this many open streams is expected to carry bulk; most are idle watches. */
const streamsPerShare = 8
/** Each step takes a round trip in which the link is idle; the budget bounds the step. */
const growthFactor = 4

/**
 * Decides the window up to which a stream may grow: what is left of the budget, divided among those that may
 * fill theirs. It is a power of two times the minimum window, so that it changes rarely. `bufferedBytes`
 * includes what the other end may still send.
 */
export function planWindow(
  use: { bufferedBytes: number; streams: number },
  limits: WindowLimits,
): number {
  const { streamWindowBytes, streamWindowBytesMin, bufferedBytesMax } = limits
  const shares = Math.max(sharesMin, use.streams / streamsPerShare)
  const share = (bufferedBytesMax - use.bufferedBytes) / shares
  let window = streamWindowBytesMin
  while (window * 2 <= Math.min(share, streamWindowBytes)) window *= 2
  return window
}

/**
 * Bounds what all streams of one end may hold unread: the minimum window for each, and `bufferedBytesMax` for
 * the growth of windows above it. Credit cannot be taken back, so it counts from when it is given.
 */
export class ReceiveBudget {
  readonly limits: WindowLimits
  readonly windowBytesMin: number
  streams = 0
  /** Bytes received and not read yet. */
  bufferedBytes = 0
  #grown = 0

  constructor(limits: WindowLimits) {
    this.limits = limits
    this.windowBytesMin = Math.max(limits.streamWindowBytesMin, firstCreditBytes)
  }

  firstWindow(): number {
    const { windowBytesMin } = this
    if (this.#grown * 4 >= this.limits.bufferedBytesMax) return windowBytesMin
    return Math.max(windowBytesMin, Math.min(eagerWindowBytes, this.#plan(windowBytesMin)))
  }

  /** A reader keeps up: its window may grow. It shrinks when others need the budget more. */
  nextWindow(window: number): number {
    return Math.max(this.windowBytesMin, Math.min(window * growthFactor, this.#plan(window)))
  }

  /** A window changed; 0 is none. */
  resize(from: number, to: number): void {
    this.#grown += this.#above(to) - this.#above(from)
  }

  #plan(own: number): number {
    const bufferedBytes = this.#grown - this.#above(own)
    return planWindow({ bufferedBytes, streams: this.streams }, this.limits)
  }

  #above(window: number): number {
    return Math.max(0, window - this.windowBytesMin)
  }
}

/** One stream's share: how much the other end may still send, and how much waits for its reader. */
export class ReceiveWindow {
  readonly #budget: ReceiveBudget
  #window: number
  /** The other end may send so much more. */
  #promised: number
  #unread = 0
  #isClosed = false

  constructor(budget: ReceiveBudget) {
    this.#budget = budget
    this.#window = budget.firstWindow()
    this.#promised = this.#window
    budget.resize(0, this.#window)
    budget.streams += 1
  }

  /** The bytes that the other end may send at first. */
  get firstBytes(): number {
    return this.#window
  }

  /** Throws FrameError when that is more than was promised. */
  onBytes(bytes: number): void {
    if (bytes > this.#promised) throw new FrameError('more bytes than there was credit for')
    this.#promised -= bytes
    this.#unread += bytes
    this.#budget.bufferedBytes += bytes
  }

  /** The credit to give now; 0 while giving it would not be worth a frame. */
  onRead(bytes: number): number {
    if (this.#isClosed) return 0
    this.#unread -= bytes
    this.#budget.bufferedBytes -= bytes
    const held = this.#promised + this.#unread
    if ((this.#window - held) * 2 < this.#window) return 0
    const next = Math.max(held, this.#budget.nextWindow(this.#window))
    this.#budget.resize(this.#window, next)
    this.#window = next
    this.#promised += next - held
    return next - held
  }

  /** Releases the share once no more bytes come or are read. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#budget.bufferedBytes -= this.#unread
    this.#budget.resize(this.#window, 0)
    this.#budget.streams -= 1
  }
}
