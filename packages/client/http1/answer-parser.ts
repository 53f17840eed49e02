import { clientLimits } from '../limits-table.ts'
import { BadAnswerError, parseAnswerHead, parseFields, type AnswerHead } from './answer-head.ts'

export interface AnswerEvents {
  onHead(head: AnswerHead): void
  /** Called with a piece of the body. */
  onData(bytes: Buffer): void
  /** Called when the answer is complete. */
  onEnd(): void
}

type State =
  | 'idle'
  | 'head'
  | 'length'
  | 'size'
  | 'piece'
  | 'piece-end'
  | 'trailers'
  | 'until-close'

const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')

/**
 * Reads the answers of one connection, one after the other, however their bytes are split (RFC
 * 9112). It is as strict as possible: ambiguous bytes are refused, and so are unrequested ones.
 */
export class AnswerParser {
  readonly #events: AnswerEvents
  #state: State = 'idle'
  #isHead = false
  /** The bytes of an incomplete head or line. */
  #held: Buffer | undefined
  /** The bytes left of a body with a length, or of a chunk. */
  #leftBytes = 0
  #interim = 0
  #trailerBytes = 0

  constructor(events: AnswerEvents) {
    this.#events = events
  }

  /**
   * Starts reading the answer to a request. If `isHead`, the answer has no body, whatever length it
   * names.
   */
  begin(isHead: boolean): void {
    this.#state = 'head'
    this.#isHead = isHead
    this.#interim = 0
    this.#trailerBytes = 0
  }

  /** Throws BadAnswerError and then reads nothing more. */
  read(chunk: Buffer): void {
    let rest = chunk
    if (this.#held) {
      rest = Buffer.concat([this.#held, chunk])
      this.#held = undefined
    }
    while (rest.length > 0) {
      const next = this.#step(rest)
      if (next === undefined) {
        this.#held = rest
        return
      }
      rest = next
    }
  }

  /** Ends when the server has ended the connection. Returns false if that was in the middle of an answer. */
  end(): boolean {
    if (this.#state !== 'until-close') return this.#state === 'idle'
    this.#finish()
    return true
  }

  /** Returns the remaining bytes, or undefined if more are needed. */
  #step(bytes: Buffer): Buffer | undefined {
    switch (this.#state) {
      case 'idle':
        throw new BadAnswerError('unexpected bytes after the answer')
      case 'head':
        return this.#readHead(bytes)
      case 'length':
      case 'piece':
        return this.#readBody(bytes)
      case 'size':
        return this.#readSize(bytes)
      case 'piece-end':
        return this.#readPieceEnd(bytes)
      case 'trailers':
        return this.#readTrailer(bytes)
      case 'until-close':
        this.#events.onData(bytes)
        return noBytes
    }
  }

  #readHead(bytes: Buffer): Buffer | undefined {
    const max = clientLimits.answerHeadBytesMax
    const at = bytes.indexOf(headEnd)
    if (at > max || (at < 0 && bytes.length > max)) {
      throw new BadAnswerError(`its head has more than ${max} bytes`)
    }
    if (at < 0) return undefined
    const head = parseAnswerHead(bytes.toString('latin1', 0, at), this.#isHead)
    const rest = bytes.subarray(at + headEnd.length)
    if (head.status < 200) return this.#skip(head, rest)
    this.#state = stateOf(head)
    this.#leftBytes = typeof head.body === 'number' ? head.body : 0
    this.#events.onHead(head)
    if (this.#state === 'length' && this.#leftBytes === 0) this.#finish()
    return rest
  }

  /** Skips an interim answer, e.g. 103. */
  #skip({ status }: AnswerHead, rest: Buffer): Buffer {
    this.#interim += 1
    if (status === 101) throw new BadAnswerError('it switched protocols without being asked')
    if (this.#interim > clientLimits.interimAnswersMax)
      throw new BadAnswerError('too many 1xx answers')
    return rest
  }

  #readBody(bytes: Buffer): Buffer {
    const taken = bytes.length <= this.#leftBytes ? bytes : bytes.subarray(0, this.#leftBytes)
    this.#leftBytes -= taken.length
    this.#events.onData(taken)
    if (this.#leftBytes === 0) {
      if (this.#state === 'length') this.#finish()
      else this.#state = 'piece-end'
    }
    return bytes.subarray(taken.length)
  }

  #readSize(bytes: Buffer): Buffer | undefined {
    const line = lineOf(bytes, clientLimits.chunkLineBytesMax)
    if (line === undefined) return undefined
    // A chunk extension may follow the size. Nobody uses them, and readers interpret them
    // differently.
    if (!/^[\da-f]{1,12}$/i.test(line)) throw new BadAnswerError('bad chunk size')
    this.#leftBytes = Number.parseInt(line, 16)
    this.#state = this.#leftBytes === 0 ? 'trailers' : 'piece'
    return bytes.subarray(line.length + lineEnd.length)
  }

  #readPieceEnd(bytes: Buffer): Buffer | undefined {
    const isWrong = bytes[0] !== 0x0d || (bytes.length > 1 && bytes[1] !== 0x0a)
    if (isWrong) throw new BadAnswerError('a chunk is longer than its size')
    if (bytes.length < lineEnd.length) return undefined
    this.#state = 'size'
    return bytes.subarray(lineEnd.length)
  }

  /** Checks trailers and drops them, because no caller needs them. */
  #readTrailer(bytes: Buffer): Buffer | undefined {
    const max = clientLimits.answerHeadBytesMax - this.#trailerBytes
    const line = lineOf(bytes, max)
    if (line === undefined) return undefined
    this.#trailerBytes += line.length + lineEnd.length
    if (line === '') this.#finish()
    else parseFields([line])
    return bytes.subarray(line.length + lineEnd.length)
  }

  #finish(): void {
    this.#state = 'idle'
    this.#events.onEnd()
  }
}

const noBytes = Buffer.alloc(0)

function stateOf({ body }: AnswerHead): State {
  if (body === 'chunked') return 'size'
  return body === 'until-close' ? body : 'length'
}

/** Returns undefined until the line is complete. */
function lineOf(bytes: Buffer, bytesMax: number): string | undefined {
  const at = bytes.indexOf(lineEnd)
  if (at > bytesMax || (at < 0 && bytes.length > bytesMax))
    throw new BadAnswerError('a line is too long')
  return at < 0 ? undefined : bytes.toString('latin1', 0, at)
}
