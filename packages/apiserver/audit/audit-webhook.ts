import { asError, type Clock, type Logger, type Random, type Timer } from '@skerry/base'
import type { Transport } from '@skerry/client'
import { postJson } from '../access-webhooks/post-json.ts'
import { auditWebhookDefaults } from '../limits-table.ts'

export interface AuditWebhookOptions {
  /** The number of waiting events. Further ones are lost and counted. */
  readonly bufferMax: number
  readonly batchMax: number
  /** How long an event waits for others to fill a batch. */
  readonly batchMs: number
  /** The pause between two batches while further events wait. */
  readonly pauseMs: number
  /** The delay before the second try of a batch. */
  readonly retryMs: number
  readonly timeoutMs: number
  /** The time for the last events when the server stops. */
  readonly lastMs: number
}

export interface AuditWebhook {
  /** Takes one line of JSON. Never waits. */
  write(line: string): void
  /** Sends until the signal aborts, then sends the remaining events. */
  run(signal: AbortSignal): Promise<void>
}

export interface AuditWebhookDeps {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Counts events that did not reach the webhook. */
  readonly lost: { inc(count?: number): void }
}

/** Sends events in batches to a webhook, as EventList. No caller waits for it. */
export function createAuditWebhook(
  given: Partial<AuditWebhookOptions>,
  deps: AuditWebhookDeps,
): AuditWebhook {
  const options = { ...auditWebhookDefaults, ...given }
  const { clock, log, lost } = deps
  const waiting: string[] = []
  let wake: (() => void) | undefined
  const send = async (lines: readonly string[], signal: AbortSignal): Promise<void> => {
    if (lines.length === 0) return
    const text = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${lines.join(',')}]}`
    try {
      await postJson(text, options, { ...deps, peer: 'audit webhook' }, signal)
    } catch (error) {
      lost.inc(lines.length)
      const cause = asError(error)
      log.error('Audit events not delivered', { events: lines.length, error: cause })
    }
  }
  return {
    write(line) {
      if (waiting.length >= options.bufferMax) return lost.inc()
      waiting.push(line.trimEnd())
      if (waiting.length === 1 || waiting.length >= options.batchMax) wake?.()
    },
    async run(signal) {
      const delivery = new AbortController()
      let last: Timer | undefined
      const onAbort = (): void => {
        const reason = new Error('the server stops')
        last = clock.setTimer(options.lastMs, () => delivery.abort(reason))
        wake?.()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      while (!signal.aborted) {
        await until(() => waiting.length > 0, undefined, signal)
        await until(() => waiting.length >= options.batchMax, options.batchMs, signal)
        await send(waiting.splice(0, options.batchMax), delivery.signal)
        await until(() => false, options.pauseMs, signal)
      }
      while (waiting.length > 0) await send(waiting.splice(0, options.batchMax), delivery.signal)
      last?.[Symbol.dispose]()
    },
  }

  /** Waits until the condition holds, the time is over or the server stops. */
  async function until(
    isSo: () => boolean,
    waitMs: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (isSo() || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = () => (isSo() || signal.aborted ? resolve() : undefined)
    using _timer = waitMs === undefined ? undefined : clock.setTimer(waitMs, resolve)
    await promise
    wake = undefined
  }
}
