import { creditBytesMax, FrameError } from '../frame/tunnel-frame.ts'
import { sendingTable, type SendingEvent, type SendingState } from '../frame/stream-state.ts'

/** Holds the bytes that one direction of a stream still has to send, and the credit that the other end gave for them. */
export class OutgoingBytes {
  readonly #chunks: Uint8Array[] = []
  /** This much of the first chunk has gone already. */
  #offset = 0
  #queued = 0
  #credit: number
  #state: SendingState

  constructor(credit: number, state: SendingState) {
    this.#credit = credit
    this.#state = state
  }

  get state(): SendingState {
    return this.#state
  }

  /** Bytes that wait. */
  get queued(): number {
    return this.#queued
  }
  /** Nothing may be pushed any more. */
  get hasEnd(): boolean {
    return this.#state === 'ending' || this.#state === 'ended'
  }
  /** True if take() would return something. */
  get isReady(): boolean {
    if (this.#queued > 0) return this.#credit > 0
    return this.#state === 'ending'
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#queued += chunk.length
  }

  /** The head has been sent; bytes may follow. */
  begin(): void {
    this.#on('head')
  }

  end(): void {
    this.#on('end')
  }

  /** Ends at once: the end went along with the head, or the other end does not need what waits. */
  drop(): void {
    this.#on('drop')
    this.clear()
  }

  addCredit(bytes: number): void {
    this.#credit += bytes
    if (this.#credit > creditBytesMax) throw new FrameError('more credit than there may be')
  }

  /** Copies as much as credit and room allow; returns the count. The last bytes take the end along. */
  take(target: Buffer, start: number, room: number): number {
    const most = Math.min(room, this.#credit, this.#queued)
    let taken = 0
    while (taken < most) {
      const [chunk] = this.#chunks
      if (chunk === undefined) break
      const part = Math.min(chunk.length - this.#offset, most - taken)
      target.set(chunk.subarray(this.#offset, this.#offset + part), start + taken)
      taken += part
      this.#offset += part
      if (this.#offset === chunk.length) {
        this.#chunks.shift()
        this.#offset = 0
      }
    }
    this.#credit -= taken
    this.#queued -= taken
    if (this.#state === 'ending' && this.#queued === 0) this.#on('taken')
    return taken
  }

  clear(): void {
    this.#chunks.length = 0
    this.#offset = 0
    this.#queued = 0
  }

  #on(event: SendingEvent): void {
    const next = sendingTable[this.#state][event]
    if (next === undefined) throw new Error(`Cannot send: ${event} in state ${this.#state}`)
    this.#state = next
  }
}
