import { BoundedQueue, QueueFullError, abortReason, type Clock, type Logger } from '@skerry/base'
import { StatusError, isStatusError, type Event, type KubeObject } from '@skerry/api'
import type { ClusterClient } from './cluster.ts'
import { EventCorrelator, type SentEvent } from './event-correlator.ts'
import { resources } from './resources-table.ts'
import { clientBounds, eventLimits } from './limits-table.ts'

export interface EventText {
  type: 'Normal' | 'Warning'
  /** The machine-readable reason, in CamelCase. */
  reason: string
  /** The human-readable message. */
  message: string
  /** The action taken or tried that led to the reason, in CamelCase. */
  action?: string
  /** A part of the object, e.g. spec.containers{web}. */
  fieldPath?: string
}

export interface EventSourceOptions {
  /** The reporting component, e.g. deployment-controller. */
  component: string
  /** The node that it runs on; kubelet only. */
  host?: string
}

export interface EventRecorder {
  /** Never waits and never fails. If the queue is full, the event is dropped and logged. */
  event(object: KubeObject, text: EventText): void
}

/** Sends recorded events, one at a time. */
export interface EventSink {
  recorder(source: EventSourceOptions): EventRecorder
  /** Ends when the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

interface Pending {
  name: string
  object: KubeObject
  text: EventText
  source: EventSourceOptions
  atMs: number
}

const { triesMax, retryMs } = clientBounds.eventRecorder

export function createEventSink(
  cluster: ClusterClient,
  deps: { clock: Clock; log: Logger },
): EventSink {
  const queue = new BoundedQueue<Pending>(eventLimits.queueMax)
  const correlator = new EventCorrelator()
  const suffixOf = uniqueEventSuffixes()
  const enqueue = (pending: Pending): void => {
    try {
      queue.push(pending)
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error
      deps.log.debug('Event dropped', { reason: pending.text.reason })
    }
  }
  return {
    recorder: (source) => ({
      event(object, text) {
        const atMs = deps.clock.now()
        const name = `${object.metadata.name}.${suffixOf(atMs)}`
        enqueue({ name, object, text, source, atMs })
      },
    }),
    async run(signal) {
      const onAbort = (): void => queue.close()
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      for await (const pending of queue) {
        if (signal.aborted) throw abortReason(signal)
        await sendWithRetry(cluster, { correlator, pending, deps }, signal)
      }
      throw abortReason(signal)
    },
  }
}

interface Sending {
  correlator: EventCorrelator
  pending: Pending
  deps: { clock: Clock; log: Logger }
}

async function sendWithRetry(
  cluster: ClusterClient,
  { correlator, pending, deps }: Sending,
  signal: AbortSignal,
): Promise<void> {
  const { object, text, source } = pending
  const { kind, metadata } = object
  const objectKey = [
    source.component,
    kind,
    metadata.namespace,
    metadata.name,
    metadata.uid,
    text.fieldPath,
  ].join('/')
  const verdict = correlator.decide({ objectKey, ...text }, deps.clock.monotonicMs())
  if (!verdict.send) return
  for (let attempt = 1; attempt <= triesMax; attempt++) {
    try {
      const sent = await sendOnce(
        cluster,
        { pending, message: verdict.message, earlier: verdict.earlier },
        signal,
      )
      return correlator.onSent(verdict.factsKey, sent)
    } catch (error) {
      if (signal.aborted) throw abortReason(signal)
      // The server understood and refused, e.g. because the namespace is being deleted.
      if (error instanceof StatusError && error.code < 500) {
        return deps.log.debug('Event refused', { reason: text.reason, error })
      }
      if (attempt < triesMax) await deps.clock.sleep(retryMs, signal)
    }
  }
  deps.log.debug('Event dropped', { reason: text.reason })
}

interface OneEvent {
  pending: Pending
  message: string
  earlier: SentEvent | undefined
}

async function sendOnce(
  cluster: ClusterClient,
  { pending, message, earlier }: OneEvent,
  signal: AbortSignal,
): Promise<SentEvent> {
  const events = cluster.resource(resources.events)
  const lastTimestamp = timestamp(pending.atMs)
  const namespace = pending.object.metadata.namespace || 'default'
  if (earlier) {
    const patch = { count: earlier.count + 1, lastTimestamp, message }
    try {
      await events.patch({ namespace, name: earlier.name, type: 'strategic', patch }, signal)
      return { ...earlier, count: patch.count }
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error // expired by its time to live: make it anew
    }
  }
  const event = eventObject(pending, { namespace, message, lastTimestamp })
  const count = (earlier?.count ?? 0) + 1
  const firstTimestamp = earlier?.firstTimestamp ?? lastTimestamp
  const created = await events.create({ ...event, count, firstTimestamp }, signal)
  return { name: created.metadata.name ?? '', count, firstTimestamp }
}

function eventObject(
  { name: eventName, object, text, source }: Pending,
  facts: { namespace: string; message: string; lastTimestamp: string },
): Event {
  const { apiVersion, kind, metadata } = object
  const { name = '', namespace, uid, resourceVersion } = metadata
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName, namespace: facts.namespace },
    involvedObject: {
      apiVersion,
      kind,
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(text.fieldPath ? { fieldPath: text.fieldPath } : {}),
    },
    type: text.type,
    reason: text.reason,
    ...(text.action ? { action: text.action } : {}),
    message: facts.message,
    lastTimestamp: facts.lastTimestamp,
    source: { ...source },
    // A combined event names its reporter in its source only, as upstream's does.
    reportingComponent: facts.message === text.message ? source.component : '',
    reportingInstance: facts.message === text.message ? (source.host ?? '') : '',
  }
}

/** Returns wall time in nanoseconds, in hexadecimal as upstream names events, and never the same twice. */
export function uniqueEventSuffixes(): (nowMs: number) => string {
  let last = 0n
  return (nowMs) => {
    const now = BigInt(Math.floor(nowMs)) * 1_000_000n
    last = now > last ? now : last + 1n
    return last.toString(16)
  }
}

function timestamp(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`
}
