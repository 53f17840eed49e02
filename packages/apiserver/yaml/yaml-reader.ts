import { Worker } from 'node:worker_threads'
import { StatusError } from '@skerry/api'
import { YamlError, parseYaml, type DecodedBody, type YamlRequest } from '@skerry/bodies'
import type { Clock, Logger, Timer } from '@skerry/base'
import { tooManyRequests } from '../contract/status-answer.ts'
import { apiServerBounds, type ApiServerLimits } from '../limits-table.ts'

/** The thread's answer to one text. */
export type YamlThreadAnswer =
  | { readonly json: string; readonly duplicates: readonly string[] }
  | { readonly refusal: string }

/** The used part of a Worker, injected in tests. */
export interface YamlThread {
  read(request: YamlRequest): void
  end(): void
}

export interface YamlThreadEvents {
  onAnswer(answer: YamlThreadAnswer): void
  /** Called when the thread has ended by itself. */
  onEnd(error: NodeJS.ErrnoException): void
}

export interface YamlReaderDeps {
  readonly limits: YamlLimits
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  readonly log: Logger
  /** Starts the thread. Default: a Worker. */
  readonly startThread?: (limits: YamlLimits, events: YamlThreadEvents) => Promise<YamlThread>
}

type YamlLimits = Pick<
  ApiServerLimits,
  | 'yamlHereCharactersMax'
  | 'yamlMs'
  | 'yamlHeapMegabytes'
  | 'yamlWaitingCharactersMax'
  | 'yamlWaitingPerUserMax'
  | 'yamlIdleMs'
>

interface Text {
  readonly owner: string
  readonly request: YamlRequest
  settle(outcome: YamlThreadAnswer | Error): void
}

/**
 * Reads clients' YAML. Its parser is a thousand times slower than JSON's and could block the event
 * loop for seconds over a malicious text, so any longer text is read in a thread, within limits of
 * time and memory. There is one thread, as long as there is something to read. Users take turns:
 * the one whose texts have taken the least time is next.
 */
export class YamlReader implements Disposable {
  readonly #deps: YamlReaderDeps
  #waiting: Text[] = []
  #current: { readonly text: Text; readonly startedMs: number; readonly timer: Timer } | undefined
  #thread: YamlThread | undefined
  #isStarting = false
  #idle: Timer | undefined
  #isClosed = false
  /** The time that each user's texts took, kept while any text waits. */
  readonly #usedMs = new Map<string, number>()

  constructor(deps: YamlReaderDeps) {
    this.#deps = deps
  }

  /** Rejects with YamlError if the text is not YAML, and with StatusError if it is too much to read. */
  async read(request: YamlRequest, owner: string, signal: AbortSignal): Promise<DecodedBody> {
    signal.throwIfAborted()
    const { limits } = this.#deps
    if (request.text.length <= limits.yamlHereCharactersMax) return parseYaml(request)
    const ofOwner = this.#waiting.filter((text) => text.owner === owner).length
    const characters = this.#waiting.reduce((sum, text) => sum + text.request.text.length, 0)
    const isFull = characters + request.text.length > limits.yamlWaitingCharactersMax
    if (isFull || ofOwner >= limits.yamlWaitingPerUserMax) throw tooManyRequests()
    const answer = await this.#answered(request, owner, signal)
    if ('refusal' in answer) throw new YamlError(answer.refusal)
    return { value: JSON.parse(answer.json), duplicates: answer.duplicates }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    const left = this.#waiting
    this.#waiting = []
    const error = new Error('The server is closed')
    for (const text of left) text.settle(error)
    this.#fail(error)
    this.#idle?.[Symbol.dispose]()
  }

  #answered(request: YamlRequest, owner: string, signal: AbortSignal): Promise<YamlThreadAnswer> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        // A text that is being read is read to its end, or until its time is over, because
        // restarting a thread costs more.
        this.#waiting = this.#waiting.filter((each) => each !== text)
        reject(signal.reason)
      }
      const text: Text = {
        owner,
        request,
        settle(outcome) {
          signal.removeEventListener('abort', onAbort)
          if (outcome instanceof Error) reject(outcome)
          else resolve(outcome)
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(text)
      this.#next()
    })
  }

  #next(): void {
    if (this.#current || this.#isClosed) return
    const text = this.#leastServed()
    if (!text) return this.#rest()
    this.#idle?.[Symbol.dispose]()
    this.#idle = undefined
    if (!this.#thread) return this.#start()
    this.#waiting = this.#waiting.filter((each) => each !== text)
    const { clock, limits } = this.#deps
    const timer = clock.setTimer(limits.yamlMs, () => this.#fail(tooMuch()))
    this.#current = { text, startedMs: clock.monotonicMs(), timer }
    this.#thread.read(text.request)
  }

  #leastServed(): Text | undefined {
    const usedOf = ({ owner }: Text): number => this.#usedMs.get(owner) ?? 0
    let best: Text | undefined
    for (const text of this.#waiting) if (!best || usedOf(text) < usedOf(best)) best = text
    return best
  }

  /** No text waits: forgets the used times, and ends the thread if none comes. */
  #rest(): void {
    this.#usedMs.clear()
    if (!this.#thread || this.#idle) return
    this.#idle = this.#deps.clock.setTimer(this.#deps.limits.yamlIdleMs, () => this.#endThread())
  }

  #start(): void {
    if (this.#isStarting) return
    this.#isStarting = true
    const { startThread = startWorker, limits, log } = this.#deps
    let isOver = false
    const events: YamlThreadEvents = {
      onAnswer: (answer) => this.#settle(answer),
      onEnd: (error) => {
        isOver = true
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return this.#fail(tooMuch())
        log.error('The thread that reads YAML failed', { error })
        this.#fail(new StatusError('InternalError', 'Internal Server Error: cannot read YAML'))
      },
    }
    void startThread(limits, events).then(
      (thread) => {
        this.#isStarting = false
        if (this.#isClosed || isOver) return thread.end()
        this.#thread = thread
        this.#next()
      },
      (error: unknown) => {
        this.#isStarting = false
        log.error('The thread that reads YAML did not start', { error: String(error) })
        const left = this.#waiting
        this.#waiting = []
        for (const text of left) text.settle(new StatusError('InternalError', 'cannot read YAML'))
      },
    )
  }

  #settle(outcome: YamlThreadAnswer | Error): void {
    const current = this.#current
    if (!current) return
    const { text, startedMs, timer } = current
    this.#current = undefined
    timer[Symbol.dispose]()
    const tookMs = this.#deps.clock.monotonicMs() - startedMs
    this.#usedMs.set(text.owner, (this.#usedMs.get(text.owner) ?? 0) + tookMs)
    text.settle(outcome)
    this.#next()
  }

  /** The thread may still be reading the text, so it is ended, too. */
  #fail(error: Error): void {
    this.#endThread()
    this.#settle(error)
  }

  #endThread(): void {
    this.#idle?.[Symbol.dispose]()
    this.#idle = undefined
    this.#thread?.end()
    this.#thread = undefined
  }
}

function tooMuch(): StatusError {
  return new StatusError(
    'RequestEntityTooLarge',
    'Request entity too large: this YAML takes more time or memory to read than is granted; send JSON',
  )
}

const { stackMegabytes, youngMegabytes } = apiServerBounds.yamlReader

async function startWorker(limits: YamlLimits, events: YamlThreadEvents): Promise<YamlThread> {
  const { yamlThreadEntry: entry } = await import('./yaml-thread-entry.ts')
  const options = {
    stdin: false,
    env: {},
    resourceLimits: {
      maxOldGenerationSizeMb: limits.yamlHeapMegabytes,
      maxYoungGenerationSizeMb: youngMegabytes,
      stackSizeMb: stackMegabytes,
    },
  }
  const worker =
    'file' in entry
      ? new Worker(entry.file, options)
      : new Worker(entry.code, { ...options, eval: true })
  // The thread must not keep the process alive.
  worker.unref()
  worker.on('message', (answer: YamlThreadAnswer) => events.onAnswer(answer))
  worker.on('error', (error: NodeJS.ErrnoException) => events.onEnd(error))
  return {
    read: (request) => worker.postMessage(request),
    end() {
      worker.removeAllListeners('message')
      worker.removeAllListeners('error')
      worker.on('error', () => undefined)
      void worker.terminate()
    },
  }
}
