import {
  BoundedQueue,
  QueueFullError,
  abortReason,
  runAll,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import {
  StatusError,
  isStatusError,
  type EventsV1Event,
  type KubeObject,
  type ObjectReference,
} from '@skerry/api'
import type { ClusterClient } from './cluster.ts'
import { uniqueEventSuffixes } from './event-recorder.ts'
import { EventSeries, microTime, type EventWrite } from './event-series.ts'
import { resources } from './resources-table.ts'
import { clientBounds, eventLimits, eventSeriesLimits } from './limits-table.ts'

export interface EventNote {
  type: 'Normal' | 'Warning'
  /** The machine-readable reason, in CamelCase. */
  reason: string
  /** The action taken or tried that led to the reason, in CamelCase. */
  action: string
  /** The human-readable text; the server accepts 1024 bytes. */
  note: string
}

export interface EventSeriesRecorder {
  /** Never waits and never fails. If the queue is full, the event is dropped and logged. */
  event(regarding: KubeObject, note: EventNote): void
}

/** Writes recorded events to events.k8s.io/v1, one at a time. */
export interface EventSeriesSink {
  recorder(source: { controller: string; host: string }): EventSeriesRecorder
  /** Ends when the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

export interface EventSeriesDeps {
  clock: Clock
  random: Random
  log: Logger
}

const { triesMax, retryMs } = clientBounds.eventSeriesSink

export function createEventSeriesSink(
  cluster: ClusterClient,
  deps: EventSeriesDeps,
): EventSeriesSink {
  const queue = new BoundedQueue<EventsV1Event>(eventLimits.queueMax)
  const series = new EventSeries()
  const suffixOf = uniqueEventSuffixes()
  const { clock } = deps
  return {
    recorder: ({ controller, host }) => ({
      event(regarding, note) {
        const nowMs = clock.now()
        const name = `${regarding.metadata.name}.${suffixOf(nowMs)}`
        const reporter = { controller, instance: `${controller}-${host}` }
        push(queue, eventOf(regarding, note, { name, reporter, nowMs }), deps)
      },
    }),
    run: (signal) =>
      runAll(signal, [
        (scope) => writeAll(cluster, { queue, series, deps }, scope),
        (scope) =>
          repeat(eventSeriesLimits.refreshMs, { cluster, deps }, () => series.ongoing(), scope),
        (scope) =>
          repeat(
            eventSeriesLimits.quietMs,
            { cluster, deps },
            () => series.finish(clock.now()),
            scope,
          ),
      ]),
  }
}

function push(queue: BoundedQueue<EventsV1Event>, event: EventsV1Event, { log }: EventSeriesDeps) {
  try {
    queue.push(event)
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error
    log.debug('Event dropped', { reason: event.reason ?? '' })
  }
}

interface EventParts {
  name: string
  reporter: { controller: string; instance: string }
  nowMs: number
}

function eventOf(
  regarding: KubeObject,
  { type, reason, action, note }: EventNote,
  { name, reporter, nowMs }: EventParts,
): EventsV1Event {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: regarding.metadata.namespace || 'default' },
    eventTime: microTime(nowMs),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance,
    action,
    reason,
    regarding: referenceTo(regarding),
    note,
    type,
  }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { name = '', namespace, uid, resourceVersion } = metadata
  return {
    apiVersion,
    kind,
    name,
    ...(namespace ? { namespace } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  }
}

interface Writing {
  queue: BoundedQueue<EventsV1Event>
  series: EventSeries
  deps: EventSeriesDeps
}

async function writeAll(
  cluster: ClusterClient,
  { queue, series, deps }: Writing,
  signal: AbortSignal,
): Promise<void> {
  const onAbort = (): void => queue.close()
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  for await (const event of queue) {
    if (signal.aborted) throw abortReason(signal)
    const due = series.add(event, deps.clock.now())
    if (due !== undefined) await writeWithRetry(cluster, { write: due, deps }, signal)
  }
  throw abortReason(signal)
}

async function repeat(
  everyMs: number,
  { cluster, deps }: { cluster: ClusterClient; deps: EventSeriesDeps },
  due: () => EventWrite[],
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await deps.clock.sleep(everyMs, signal)
    for (const write of due()) await writeWithRetry(cluster, { write, deps }, signal)
  }
}

async function writeWithRetry(
  cluster: ClusterClient,
  { write, deps }: { write: EventWrite; deps: EventSeriesDeps },
  signal: AbortSignal,
): Promise<void> {
  const reason = write.event.reason ?? ''
  for (let attempt = 1; attempt <= triesMax; attempt++) {
    try {
      return await writeOnce(cluster, write, signal)
    } catch (error) {
      if (signal.aborted) throw abortReason(signal)
      // The series' event was missing a moment ago and exists now, so the series can be written
      // again.
      const isRetried = write.isSeries && isStatusError(error, 'AlreadyExists')
      if (error instanceof StatusError && error.code < 500 && !isRetried) {
        return deps.log.debug('Event refused', { reason, error })
      }
      if (attempt < triesMax) {
        await deps.clock.sleep(retryMs * (1 + 0.25 * deps.random.next()), signal)
      }
    }
  }
  deps.log.debug('Event dropped', { reason })
}

async function writeOnce(
  cluster: ClusterClient,
  { event, isSeries }: EventWrite,
  signal: AbortSignal,
): Promise<void> {
  const events = cluster.resource(resources.eventsV1)
  if (isSeries) {
    const { name = '', namespace } = event.metadata
    const patch = { series: event.series }
    try {
      await events.patch({ namespace, name, type: 'strategic', patch }, signal)
      return
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error // expired by its time to live: make it anew
    }
  }
  await events.create(event, signal)
}
