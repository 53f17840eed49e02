import type { Writable } from 'node:stream'
import type { Clock, Timer } from '@skerry/base'
import { apiServerBounds, type ApiServerLimits } from '../limits-table.ts'
import type { ReaderOf } from '../contract/exchange.ts'
import type { OutputTurns } from './output-turns.ts'
import type { UnreadBytes, UnreadShare } from './unread-bytes.ts'

export interface OutputDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  readonly limits: Pick<ApiServerLimits, 'firstPieceBytes' | 'chunkBytes' | 'awayReaderMs'>
  readonly unread: UnreadBytes
  readonly outputTurns: OutputTurns
  /** Receives the length of each piece of a list. The piece's buffer is dropped once it is written. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

const { slowPieceMs, quickPieceMs } = apiServerBounds.pacedOutput

/**
 * Writes to one reader, in pieces that grow while it reads. Waiting bytes are counted. The answer
 * ends if they are too many for its user, or if the reader takes nothing for too long.
 */
export class PacedOutput implements Disposable {
  /** Called when the reader takes more again. */
  onDrain: () => void = () => undefined
  readonly #target: Writable
  readonly #out: Writable
  readonly #deps: OutputDeps
  readonly #user: string
  readonly #mayStay: boolean
  readonly #share: UnreadShare
  #rest: Uint8Array | undefined
  #pieceBytes: number
  #heldBytes = 0
  #isDisposed = false
  #pausedMs = 0
  #away: Timer | undefined
  readonly #onTargetDrain = (): void => this.#drained()

  /** Bytes go to `target`; destroying `out` ends the answer. Mostly they are the same. */
  constructor(target: Writable, out: Writable, deps: OutputDeps, reader: ReaderOf | undefined) {
    this.#target = target
    this.#out = out
    this.#deps = deps
    this.#user = reader?.user ?? ''
    this.#mayStay = reader?.mayStay ?? true
    this.#pieceBytes = deps.limits.firstPieceBytes
    this.#share = deps.unread.open(this.#user, () => this.#end())
    target.on('drain', this.#onTargetDrain)
  }

  /** Returns false if the caller must wait for `onDrain`. */
  write(bytes: Uint8Array): boolean {
    this.#rest = bytes
    const { limits, onBytes } = this.#deps
    if (bytes.length >= limits.firstPieceBytes) onBytes?.(bytes.length)
    return this.#flush()
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#target.removeListener('drain', this.#onTargetDrain)
    this.#away?.[Symbol.dispose]()
    this.#share[Symbol.dispose]()
  }

  #flush(): boolean {
    while (this.#rest && !this.#target.destroyed && !this.#out.writableEnded) {
      const rest = this.#rest
      const piece = rest.length <= this.#pieceBytes ? rest : rest.subarray(0, this.#pieceBytes)
      this.#rest = piece.length < rest.length ? rest.subarray(piece.length) : undefined
      if (this.#target.write(piece)) continue
      this.#pause(rest.length)
      return false
    }
    return this.#rest === undefined
  }

  #pause(bytes: number): void {
    const { clock, limits } = this.#deps
    this.#pausedMs = clock.monotonicMs()
    if (!this.#mayStay) this.#away = clock.setTimer(limits.awayReaderMs, () => this.#end())
    this.#hold(bytes)
  }

  #drained(): void {
    this.#away?.[Symbol.dispose]()
    this.#away = undefined
    const { clock, limits, outputTurns } = this.#deps
    const tookMs = clock.monotonicMs() - this.#pausedMs
    const { firstPieceBytes, chunkBytes } = limits
    if (tookMs < quickPieceMs) this.#pieceBytes = Math.min(this.#pieceBytes * 2, chunkBytes)
    if (tookMs > slowPieceMs) this.#pieceBytes = Math.max(this.#pieceBytes / 2, firstPieceBytes / 4)
    this.#hold(this.#rest?.length ?? 0)
    outputTurns.schedule(this.#user, () => this.#resume())
  }

  /** Returns how many bytes the reader may be given. */
  #resume(): number {
    if (this.#isDisposed) return 0
    this.#hold(0)
    const bytes = this.#pieceBytes
    if (this.#flush()) this.onDrain()
    return bytes
  }

  #hold(bytes: number): void {
    this.#share.remove(this.#heldBytes)
    this.#heldBytes = bytes
    this.#share.add(bytes)
  }

  #end(): void {
    this.#rest = undefined
    this.#out.destroy()
    this.#target.destroy()
  }
}
