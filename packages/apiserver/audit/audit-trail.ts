import { messageOf, type Clock } from '@skerry/base'
import type { Annotate } from '../contract/admission.ts'
import { isWhole, type AnswerBody, type ApiAnswer, type ApiRequest } from '../contract/exchange.ts'
import { decodeAnyProtobuf } from '../protobuf/decode-object.ts'
import { messagesAtHand } from '../protobuf/message-table.ts'
import { writeAuditEvent, type AuditFacts, type AuditedRequest } from './audit-event.ts'
import type { AuditPolicy, AuditStage } from './audit-policy.ts'

/** Writes audit.k8s.io/v1 Events, one per stage of each request that the policy selects. */
export interface AuditTrail {
  /** Returns undefined if nothing is recorded for this request. */
  open(asked: AuditedRequest): AuditEntry | undefined
}

export interface AuditEntry {
  /** Replaces the request and keeps the body if the policy wants it. */
  readonly request: ApiRequest
  readonly annotate: Annotate
  /**
   * Replaces the answer, whose end is the end of the request. If `isLasting`, its start is a stage
   * as well.
   */
  answered(answer: ApiAnswer, isLasting: boolean): ApiAnswer
  /** Records that the server failed, in place of the end of the request. */
  panicked(error: unknown): void
  /** Records the end of an upgraded connection. */
  switched(status: number): void
}

export interface AuditTrailOptions {
  readonly policy: AuditPolicy
  /** Takes one line of JSON. Must neither throw nor wait. */
  readonly write: (line: string) => void
  /** The limit of a recorded body. Longer bodies are not recorded. */
  readonly bodyBytesMax: number
}

/**
 * Returns true for errors that the JavaScript engine throws, which mean a bug in the program;
 * upstream records these as panics. Errors thrown on purpose describe a problem with an object, a
 * peer or the store.
 */
export function isMistake(error: unknown): boolean {
  const isOfEngine =
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  return isOfEngine || !(error instanceof Error)
}

export function createAuditTrail(options: AuditTrailOptions, clock: Clock): AuditTrail {
  return {
    open(asked) {
      const scope = options.policy.scopeOf(asked.info, asked.user)
      if (scope.level === 'None') return undefined
      const entry = new Entry({ ...asked, scope }, options, clock)
      entry.emit('RequestReceived')
      return entry
    },
  }
}

class Entry implements AuditEntry {
  readonly request: ApiRequest
  readonly #facts: AuditFacts
  readonly #options: AuditTrailOptions
  readonly #clock: Clock
  readonly #sent: Pieces
  readonly #received: Pieces
  #isOver = false

  constructor(facts: AuditFacts, options: AuditTrailOptions, clock: Clock) {
    this.#facts = facts
    this.#options = options
    this.#clock = clock
    this.#sent = new Pieces(options.bodyBytesMax)
    this.#received = new Pieces(options.bodyBytesMax)
    const { request, scope } = facts
    const keepsBody = scope.level !== 'Metadata' && facts.info.isResourceRequest
    if (!keepsBody) this.request = request
    else {
      const onYamlRead = (value: unknown): void => void (this.#facts.requestObject = value)
      this.request = { ...request, body: tapped(request.body, this.#received), onYamlRead }
    }
  }

  readonly annotate: Annotate = (key, value, level = 'Metadata') => {
    if (level === 'Request' && this.#facts.scope.level === 'Metadata') return
    this.#facts.annotations ??= {}
    this.#facts.annotations[key] ??= value
  }

  answered(answer: ApiAnswer, isLasting: boolean): ApiAnswer {
    // The request has panicked already.
    if (this.#isOver) return answer
    this.#facts.status = answer.status
    if (isLasting) this.emit('ResponseStarted')
    const { scope, info } = this.#facts
    const keepsBody =
      answer.status >= 400 ||
      (scope.level === 'RequestResponse' && info.isResourceRequest && !isLasting)
    const { body } = answer
    if (isWhole(body)) {
      if (keepsBody) this.#sent.add(body)
      this.#complete(answer)
      return answer
    }
    return { ...answer, body: this.#followed(body, answer, keepsBody) }
  }

  panicked(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#facts.status = 500
    this.#facts.panic = `APIServer panic'd: ${messageOf(error)}`
    this.#keepRequest()
    this.emit('Panic')
  }

  switched(status: number): void {
    this.#facts.status = status
    this.emit('ResponseComplete')
  }

  emit(stage: AuditStage): void {
    if (this.#facts.scope.omitStages.has(stage)) return
    this.#options.write(writeAuditEvent(this.#facts, stage, this.#clock.now()))
  }

  async *#followed(
    body: Exclude<AnswerBody, Uint8Array>,
    answer: ApiAnswer,
    keepsBody: boolean,
  ): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of body) {
        if (keepsBody) this.#sent.add(piece)
        yield piece
      }
    } finally {
      this.#complete(answer)
    }
  }

  #complete(answer: ApiAnswer): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#keepRequest()
    const type = answer.headers['content-type']
    const sent = this.#sent.bytes()
    const responseObject =
      sent.length > 0 && answer.said !== undefined
        ? answer.said
        : parsed(sent, typeof type === 'string' ? type : '')
    if (responseObject !== undefined) this.#facts.responseObject = responseObject
    this.emit('ResponseComplete')
  }

  #keepRequest(): void {
    const { headers } = this.#facts.request
    const requestObject = parsed(this.#received.bytes(), headers['content-type'])
    if (requestObject !== undefined) this.#facts.requestObject = requestObject
  }
}

/** Collects a body as it passes. If it exceeds the limit, nothing is kept. */
class Pieces {
  readonly #bytesMax: number
  #pieces: Uint8Array[] = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(piece: Uint8Array): void {
    this.#bytes += piece.length
    if (this.#bytes <= this.#bytesMax) this.#pieces.push(piece)
    else this.#pieces = []
  }

  bytes(): Uint8Array {
    return this.#bytes > this.#bytesMax ? new Uint8Array(0) : Buffer.concat(this.#pieces)
  }
}

async function* tapped(
  body: AsyncIterable<Uint8Array>,
  pieces: Pieces,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    pieces.add(piece)
    yield piece
  }
}

/**
 * Returns undefined if the body is neither JSON nor protobuf. For YAML the handler reports the
 * object it has read.
 */
function parsed(bytes: Uint8Array, contentType = ''): unknown {
  if (bytes.length === 0) return undefined
  try {
    if (contentType.includes('protobuf')) {
      // The code that read or wrote this body has loaded the messages.
      const messages = messagesAtHand()
      return messages && decodeAnyProtobuf(bytes, messages)
    }
    const text = Buffer.from(bytes).toString('utf8')
    return JSON.parse(text)
  } catch {
    // The handler has refused an unreadable body; it is not recorded.
    return undefined
  }
}
