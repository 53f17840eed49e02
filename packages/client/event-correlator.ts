import { RecentMap } from '@skerry/base'
import { eventLimits } from './limits-table.ts'

export interface EventFacts {
  /** Identifies the object by kind, namespace, name, uid and version. */
  objectKey: string
  type: string
  reason: string
  message: string
}

/** An earlier event with the same facts. */
export interface SentEvent {
  name: string
  count: number
  firstTimestamp: string
}

export type Verdict =
  | { readonly send: false }
  | {
      readonly send: true
      /** The message, or the combined one. */
      readonly message: string
      readonly factsKey: string
      /** The event to count up instead of creating another. */
      readonly earlier: SentEvent | undefined
    }

interface Combined {
  messages: Set<string>
  lastMs: number
}

interface Budget {
  tokens: number
  atMs: number
}

export class EventCorrelator {
  readonly #combined = new RecentMap<string, Combined>(eventLimits.entriesMax)
  readonly #sent = new RecentMap<string, SentEvent>(eventLimits.entriesMax)
  readonly #budgets = new RecentMap<string, Budget>(eventLimits.entriesMax)

  decide(facts: EventFacts, nowMs: number): Verdict {
    const { key, message } = this.#combine(facts, nowMs)
    if (!this.#takeToken(facts.objectKey, nowMs)) return { send: false }
    return { send: true, message, factsKey: key, earlier: this.#sent.use(key) }
  }

  /** Records an event that the server accepted, on which the next one like it is counted. */
  onSent(factsKey: string, sent: SentEvent): void {
    this.#sent.set(factsKey, sent)
  }

  #combine(facts: EventFacts, nowMs: number): { key: string; message: string } {
    const group = [facts.objectKey, facts.type, facts.reason].join('\n')
    const known = this.#combined.use(group)
    const isFresh = known !== undefined && nowMs - known.lastMs <= eventLimits.combineMs
    const messages = isFresh ? known.messages : new Set<string>()
    if (messages.size < eventLimits.distinctMessagesMax) messages.add(facts.message)
    this.#combined.set(group, { messages, lastMs: nowMs })
    if (messages.has(facts.message) && messages.size < eventLimits.distinctMessagesMax) {
      return { key: `${group}\n${facts.message}`, message: facts.message }
    }
    return { key: group, message: `(combined from similar events): ${facts.message}` }
  }

  #takeToken(objectKey: string, nowMs: number): boolean {
    const known = this.#budgets.use(objectKey) ?? { tokens: eventLimits.burst, atMs: nowMs }
    const refilled = known.tokens + (nowMs - known.atMs) / eventLimits.refillMs
    const tokens = Math.min(eventLimits.burst, refilled)
    const isAllowed = tokens >= 1
    this.#budgets.set(objectKey, { tokens: isAllowed ? tokens - 1 : tokens, atMs: nowMs })
    return isAllowed
  }
}
