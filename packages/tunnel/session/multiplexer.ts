import type { Clock } from '@skerry/base'
import type { PingProof } from '../traffic/delay-window.ts'
import { FramePieces, type Frame } from '../frame/frame-pieces.ts'
import { SendQueue } from '../traffic/send-queue.ts'
import type { StreamTraffic } from '../traffic/stream-traffic.ts'
import { ReceiveBudget } from './session-window.ts'
import {
  agentStreams,
  firstCreditBytes,
  FrameError,
  frameTypes,
  headLines,
  headText,
  resetCodes,
  streamIdMax,
} from '../frame/tunnel-frame.ts'
import { TrafficMeter, type TrafficBytes } from '../traffic/traffic-meter.ts'
import {
  defaultTrafficRules,
  parseTrafficRules,
  type TrafficRules,
} from '../traffic/traffic-rules.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'
import { TunnelStream, type StreamContext } from './tunnel-stream.ts'
import { tunnelBounds, type TunnelLimits } from '../limits-table.ts'

const { agentStreamsMax, controlBytesMax, reasonBytesMax, rulesBytesMax } = tunnelBounds.multiplexer

export interface MultiplexerEvents {
  /** A request arrived. If omitted, the other end must not send any. */
  onOpen?: (stream: TunnelStream, head: string[]) => void
  onGoAway(reason: string): void
  /** Called with the hub's rules for this end; omitted at the hub's end. */
  onTraffic?: (rules: TrafficRules) => void
  /** Called if the other end broke the protocol, or does not read: the link is then useless. */
  onFault(error: Error): void
}

/** The ends of a tunnel. Each has stream numbers of its own. */
export type TunnelEnd = 'hub' | 'agent'

export interface MultiplexerDeps {
  readonly clock: Clock
  /** If omitted, the end that answers requests is the agent. */
  readonly end?: TunnelEnd
  /** Receives the bytes of each message, in and out. */
  readonly onBytes?: (bytes: number) => void
}

/** Runs many streams over one link. It handles frames and credit; its users handle requests and answers. */
export class Multiplexer {
  readonly #limits: TunnelLimits
  readonly #events: MultiplexerEvents
  readonly #queue: SendQueue
  readonly #budget: ReceiveBudget
  readonly #streams = new Map<number, TunnelStream>()
  readonly #asking: StreamContext
  readonly #answering: StreamContext
  readonly #end: TunnelEnd
  readonly #clock: Clock
  readonly #onBytes: ((bytes: number) => void) | undefined
  readonly #meter = new TrafficMeter()
  readonly #pieces = new FramePieces()
  #rules = defaultTrafficRules
  /** The arrival time of the piece that is being read. */
  #nowMs = 0
  #lastId = 0
  #lastIdOfOther = 0
  /** How many of the streams the other end has opened. */
  #answered = 0
  #isEnded = false
  /** Called when the last stream is over. */
  #onEmpty: (() => void) | undefined

  constructor(
    link: TunnelLink,
    limits: TunnelLimits,
    events: MultiplexerEvents,
    { clock, onBytes, end = events.onOpen ? 'agent' : 'hub' }: MultiplexerDeps,
  ) {
    this.#limits = limits
    this.#events = events
    this.#end = end
    this.#clock = clock
    this.#onBytes = onBytes
    this.#queue = new SendQueue(link, {
      clock,
      meter: this.#meter,
      ...(onBytes ? { onBytes } : {}),
    })
    this.#budget = new ReceiveBudget(limits)
    const shared = {
      queue: this.#queue,
      budget: this.#budget,
      onOver: (stream: TunnelStream) => this.#remove(stream),
    }
    this.#asking = { ...shared, role: 'asking' }
    this.#answering = { ...shared, role: 'answering' }
    link.receive((piece, isLast) => this.#onPiece(piece, isLast))
  }

  /** The number of streams for requests of the hub. */
  get count(): number {
    return this.#end === 'agent' ? this.#answered : this.#streams.size - this.#answered
  }
  /** Bytes received and not read yet. */
  get bufferedBytes(): number {
    return this.#budget.bufferedBytes
  }
  /** Bytes to send that the link has not taken yet. */
  get queuedBytes(): number {
    let bytes = this.#queue.unsentBytes
    for (const { outgoing } of this.#streams.values()) bytes += outgoing.queued
    return bytes
  }
  /** The other end takes frames too slowly for another stream, or all numbers are used up. */
  get isBusy(): boolean {
    return this.#queue.controlBytes > controlBytesMax / 2 || this.#lastId >= streamIdMax
  }

  /** The bytes since it began, by class. */
  get traffic(): TrafficBytes {
    return this.#meter.read()
  }

  get rules(): TrafficRules {
    return this.#rules
  }

  /** Sets how this end sends from now on. */
  setRules(rules: TrafficRules): void {
    this.#rules = rules
    this.#queue.setRules(rules)
  }

  /** Sends the other end its rules; call it only if that end knows the frame. */
  sendRules(rules: TrafficRules): void {
    const text = Buffer.from(JSON.stringify(rules)).toString('latin1')
    this.#queue.control({ type: frameTypes.traffic, isEnd: false, stream: 0, text })
  }

  /** Records a ping of the other end, which shows how long its bytes take. */
  onPing(payload: string): void {
    this.#queue.onPing(payload)
  }

  /** The other end answered a ping: one of the queue's marks, or another one with what that proves. */
  onPong(payload: string, proof: PingProof | undefined): void {
    if (!this.#isEnded) this.#queue.onPong(payload, proof)
  }

  /** Opens a stream. An agent does so only where the hub knows the feature `requests`. */
  open(head: readonly string[], isEnd: boolean): TunnelStream {
    this.#lastId += 1
    const ownId = this.#end === 'agent' ? this.#lastId + agentStreams : this.#lastId
    const stream = new TunnelStream(ownId, firstCreditBytes, this.#asking)
    this.#streams.set(stream.id, stream)
    const { firstWindowBytes: number, id } = stream
    this.#queue.control({ type: frameTypes.open, isEnd, stream: id, number, text: headText(head) })
    if (isEnd) stream.outgoing.drop()
    return stream
  }

  goAway(reason: string): void {
    const bytes = Buffer.from(reason).subarray(0, reasonBytesMax)
    this.#queue.control({
      type: frameTypes.goAway,
      isEnd: false,
      stream: 0,
      text: bytes.toString('latin1'),
    })
  }

  /**
   * Calls back when no stream for a request of the hub is open, at once if none is. All frames have then gone to the
   * link. An agent's own requests may last for ever, and are asked again elsewhere.
   */
  whenEmpty(callback: () => void): void {
    this.#onEmpty = () => {
      this.#onEmpty = undefined
      this.#queue.flush()
      callback()
    }
    if (this.count === 0) this.#onEmpty()
  }

  /** Cuts all streams; nothing is sent or received any more. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#queue.stop()
    for (const stream of this.#streams.values()) stream.cut()
  }

  #remove(stream: TunnelStream): void {
    if (this.#streams.delete(stream.id) && !this.#isOwn(stream.id)) this.#answered -= 1
    if (this.count === 0) this.#onEmpty?.()
  }

  #isOwn(id: number): boolean {
    return id >= agentStreams === (this.#end === 'agent')
  }

  #onPiece(piece: Buffer, isLast: boolean): void {
    if (this.#isEnded) return
    this.#nowMs = this.#clock.monotonicMs()
    this.#onBytes?.(piece.length)
    try {
      this.#pieces.read(piece, isLast, (frame) => this.#onFrame(frame))
      if (this.#queue.controlBytes > controlBytesMax) throw new FrameError('nothing is taken')
    } catch (error) {
      if (!(error instanceof FrameError)) throw error
      this.#events.onFault(error)
    }
  }

  #onFrame(frame: Frame): void {
    const { type, payload, wireBytes } = frame
    if (type !== frameTypes.data) this.#meter.onReceived(0, wireBytes)
    switch (type) {
      case frameTypes.open:
        return this.#onOpen(frame)
      case frameTypes.goAway:
        return this.#events.onGoAway(payload.subarray(0, reasonBytesMax).toString('utf8'))
      case frameTypes.traffic:
        return this.#onTraffic(payload)
      case frameTypes.answer:
        return this.#find(frame)?.onAnswer(headLines(payload))
      case frameTypes.data: {
        const stream = this.#find(frame)
        this.#count(stream?.received, wireBytes)
        return stream?.onData(payload, frame.isEnd)
      }
      case frameTypes.credit:
        return this.#find(frame)?.onCredit(payload.readUInt32BE(0))
      case frameTypes.reset:
        return this.#find(frame)?.onReset(payload.readUInt32BE(0))
    }
  }

  /** Counts received bytes. Data for a closed stream counts as control traffic. */
  #count(traffic: StreamTraffic | undefined, bytes: number): void {
    this.#meter.onReceived(traffic?.index ?? 0, bytes)
    traffic?.moved(bytes, this.#nowMs, this.#rules.bulkAfterBytes)
  }

  #onTraffic(payload: Buffer): void {
    const { onTraffic } = this.#events
    if (!onTraffic) throw new FrameError('rules of traffic from the end that obeys them')
    const rules = parseTrafficRules(payload.subarray(0, rulesBytesMax).toString('utf8'))
    // Invalid rules change nothing; a newer hub may send more than this end understands.
    if (rules) onTraffic(rules)
  }

  /** Returns undefined for a stream that has ended here: frames still on their way to it do not matter. */
  #find({ stream, type }: Frame): TunnelStream | undefined {
    const lastId = this.#isOwn(stream) ? this.#lastId : this.#lastIdOfOther
    const isKnown = numberOf(stream) <= lastId
    if (!isKnown) throw new FrameError(`a frame of type ${type} for no stream`)
    return this.#streams.get(stream)
  }

  #onOpen({ stream: id, payload, isEnd }: Frame): void {
    const { onOpen } = this.#events
    if (!onOpen) throw new FrameError('a request from the end that answers')
    if (this.#isOwn(id)) throw new FrameError(`stream ${id} has a number of the other end`)
    if (numberOf(id) <= this.#lastIdOfOther) throw new FrameError(`stream ${id} is opened twice`)
    this.#lastIdOfOther = numberOf(id)
    const most = this.#end === 'agent' ? this.#limits.streamsMax : agentStreamsMax
    if (this.#answered >= most) {
      const { refused: number } = resetCodes
      this.#queue.control({ type: frameTypes.reset, isEnd: false, stream: id, number })
      return
    }
    const stream = new TunnelStream(id, payload.readUInt32BE(0), this.#answering)
    this.#streams.set(id, stream)
    this.#answered += 1
    stream.onOpened(isEnd)
    onOpen(stream, headLines(payload.subarray(4)))
  }
}

/** Returns the number without the bit of its end. */
function numberOf(id: number): number {
  return id >= agentStreams ? id - agentStreams : id
}
