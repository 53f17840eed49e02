import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Timer } from '@skerry/base'
import { CompactedRevisionError } from '../engine/engine-errors.ts'
import { isEmptyRange, keyRange, type KeyRange } from '../engine/key-range.ts'
import type { EngineEvent } from '../engine/key-value.ts'
import type { Watcher } from '../engine/watcher-set.ts'
import { etcdErrors } from './etcd-errors-table.ts'
import { metricNameOf } from '../grpc/call-counts.ts'
import type { AnswerStream } from '../grpc/grpc-call.ts'
import { GrpcError } from '../grpc/grpc-error.ts'
import { etcdServerBounds } from '../limits-table.ts'
import type { Message, MessageDraft } from '../wire/etcd-messages-table.ts'
import { headerOf, rightsOf, type ServiceContext } from './service-context.ts'
import { fragmentsOf, wireEvents } from './watch-events.ts'

const { watchesMax } = etcdServerBounds.watchStream
/** The id of answers that concern no watch, or all of them. */
const noWatch = -1n

interface Watch extends Watcher {
  readonly id: bigint
  readonly request: Message<'WatchCreateRequest'>
  /** Events below it are not sent. */
  readonly from: number
  /** The first revision that is not sent; undefined while the watch is sent each event as it happens. */
  behind: number | undefined
  /** True if it was sent something since the last report of progress. */
  isBusy: boolean
}

/**
 * The watches of one stream. A watch that its reader outruns is sent events as they happen. One that is behind, since
 * it starts in the past or its reader is slow, is sent history in slices until it has caught up; nothing waits for it
 * in memory but what the stream may leave unread.
 */
export class WatchStream implements Disposable {
  readonly #context: ServiceContext
  readonly #answers: AnswerStream<'WatchResponse'>
  readonly #fail: (error: unknown) => void
  readonly #watches = new Map<bigint, Watch>()
  #nextId = 0n
  #isCatchingUp = false
  #isProgressAsked = false
  #isEnded = false
  #timer: Timer | undefined

  constructor(
    context: ServiceContext,
    answers: AnswerStream<'WatchResponse'>,
    fail: (error: unknown) => void,
  ) {
    this.#context = context
    this.#answers = answers
    this.#fail = fail
  }

  take({ createRequest, cancelRequest, progressRequest }: Message<'WatchRequest'>): void {
    if (createRequest) this.#create(createRequest)
    else if (cancelRequest) this.#cancel(cancelRequest.watchId)
    else if (progressRequest) {
      this.#isProgressAsked = true
      this.#reportProgress()
    }
  }

  [Symbol.dispose](): void {
    this.#isEnded = true
    this.#timer?.[Symbol.dispose]()
    for (const watch of this.#watches.values()) this.#context.engine.unwatch(watch)
    this.#watches.clear()
  }

  #create(request: Message<'WatchCreateRequest'>): void {
    const { engine } = this.#context
    const refuse = (cancelReason: string): void => {
      this.#send({ watchId: noWatch, created: true, canceled: true, cancelReason })
    }
    if (this.#watches.size >= watchesMax) return refuse(etcdErrors.tooManyRequests[1])
    // An empty key stands for the first of all keys.
    const first = request.key.length === 0 ? Uint8Array.of(0) : request.key
    const range = keyRange(first, request.rangeEnd)
    const denied = this.#whyDenied(first, request.rangeEnd)
    if (denied !== undefined) return refuse(denied)
    if (isEmptyRange(range)) return refuse('mvcc: watcher range is empty')
    if (request.watchId !== 0n && this.#watches.has(request.watchId)) {
      return refuse('mvcc: duplicate watch ID provided on the WatchStream')
    }
    const id = request.watchId === 0n ? this.#freeId() : request.watchId
    const from = request.startRevision > 0 ? request.startRevision : engine.revision + 1
    this.#send({ watchId: id, created: true })
    this.#start(id, range, request, from)
  }

  /** Returns the words in which etcd's server quotes its own error. */
  #whyDenied(key: Uint8Array, rangeEnd: Uint8Array): string | undefined {
    try {
      rightsOf(this.#context, this.#answers).checkRead(key, rangeEnd)
      return undefined
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error
      return `rpc error: code = ${metricNameOf(error.code)} desc = ${error.message}`
    }
  }

  #start(id: bigint, range: KeyRange, request: Message<'WatchCreateRequest'>, from: number): void {
    const { engine } = this.#context
    const watch: Watch = {
      id,
      range,
      request,
      from,
      behind: from <= engine.revision ? from : undefined,
      isBusy: false,
      onEvents: (events, revision) => this.#onEvents(watch, events, revision),
    }
    this.#watches.set(id, watch)
    engine.watch(watch)
    if (request.progressNotify) this.#armProgress()
    if (watch.behind !== undefined) this.#catchUp()
  }

  #cancel(id: bigint): void {
    if (this.#drop(id)) this.#send({ watchId: id, canceled: true })
  }

  #drop(id: bigint): boolean {
    const watch = this.#watches.get(id)
    if (watch === undefined) return false
    this.#context.engine.unwatch(watch)
    return this.#watches.delete(id)
  }

  #onEvents(watch: Watch, events: readonly EngineEvent[], revision: number): void {
    if (watch.behind !== undefined) return
    if (this.#answers.isFull) {
      watch.behind = Math.max(watch.from, events[0]?.kv.modRevision ?? revision)
      return this.#catchUp()
    }
    this.#sendEvents(watch, events, revision)
  }

  #sendEvents(watch: Watch, events: readonly EngineEvent[], revision: number): void {
    const wanted = wireEvents(events, watch)
    if (wanted.length === 0) return
    watch.isBusy = true
    const { requestBytesMax } = this.#context.limits
    const parts = watch.request.fragment ? fragmentsOf(wanted, requestBytesMax) : [wanted]
    for (const [at, part] of parts.entries()) {
      const fragment = at < parts.length - 1
      this.#send({ watchId: watch.id, events: part, fragment }, revision)
    }
  }

  /** Runs once at a time for all watches of the stream. */
  #catchUp(): void {
    if (this.#isCatchingUp || this.#isEnded) return
    this.#isCatchingUp = true
    this.#sendHistory().then(
      () => {
        this.#isCatchingUp = false
        this.#reportProgress()
      },
      (error: unknown) => this.#fail(error),
    )
  }

  async #sendHistory(): Promise<void> {
    for (let late = this.#late(); late.length > 0; late = this.#late()) {
      for (const watch of late) {
        await this.#answers.whenDrained()
        if (this.#isEnded) return
        // It may have been cancelled meanwhile.
        if (this.#watches.get(watch.id) === watch) this.#sendSlice(watch)
        await nextTurn()
      }
    }
  }

  #late(): Watch[] {
    return [...this.#watches.values()].filter(({ behind }) => behind !== undefined)
  }

  /** Nothing else happens between the read and the mark that the watch has caught up, so no event falls in between. */
  #sendSlice(watch: Watch): void {
    const { engine } = this.#context
    try {
      const { range, request, behind = engine.revision } = watch
      const { events, revision } = engine.history(range, behind, { hasPrevious: request.prevKv })
      watch.behind = revision < engine.revision ? revision + 1 : undefined
      this.#sendEvents(watch, events, revision)
    } catch (error) {
      if (!(error instanceof CompactedRevisionError)) throw error
      this.#drop(watch.id)
      const answer = { watchId: watch.id, canceled: true, compactRevision: engine.compacted }
      // etcd reports no revision here, since the watch has reached none.
      this.#send(answer, 0)
    }
  }

  /** Answers a question for progress once no watch of the stream is behind. */
  #reportProgress(): void {
    if (!this.#isProgressAsked || this.#isCatchingUp || this.#isEnded) return
    if (this.#late().length > 0) return
    this.#isProgressAsked = false
    if (this.#watches.size > 0) this.#send({ watchId: noWatch })
  }

  #armProgress(): void {
    if (this.#timer) return
    const { clock, progressNotifyMs } = this.#context
    const onTimer = (): void => {
      this.#timer = undefined
      for (const watch of this.#watches.values()) {
        const isQuiet = !watch.isBusy && watch.behind === undefined
        if (watch.request.progressNotify && isQuiet) this.#send({ watchId: watch.id })
        watch.isBusy = false
      }
      this.#armProgress()
    }
    this.#timer = clock.setTimer(progressNotifyMs, onTimer, { isBackground: true })
  }

  #freeId(): bigint {
    while (this.#watches.has(this.#nextId)) this.#nextId += 1n
    const id = this.#nextId
    this.#nextId += 1n
    return id
  }

  #send(answer: Omit<MessageDraft<'WatchResponse'>, 'header'>, revision?: number): void {
    const header = headerOf(this.#context.engine, revision)
    this.#answers.send({ ...answer, header })
  }
}
