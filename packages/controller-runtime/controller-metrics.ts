import type { Metrics } from '@skerry/base'
import { controllerRuntimeBounds } from './limits-table.ts'

/** The state of a queue, which is read at each scrape. */
export interface ObservedQueue {
  /** The number of keys that wait, including those that come again once they are done. */
  readonly depth: number
  /** How long each key in progress has been held. */
  heldMs(): readonly number[]
}

/** Counts for one queue. Disposed of when the queue closes; its counts remain. */
export interface QueueMetrics extends Disposable {
  onAdded(): void
  /** The key was added with a delay: after a failure, or because its reconciler asked for it. */
  onDelayed(): void
  onTaken(waitedMs: number): void
  onDone(heldMs: number): void
}

export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'terminal_error'

export interface ControllerMetrics {
  /** Several queues of one name, e.g. one for each cluster, are added up. */
  queue(name: string, queue: ObservedQueue): QueueMetrics
  onReconciled(controller: string, outcome: ReconcileOutcome): void
}

interface QueueFigures {
  adds: number
  retries: number
  readonly queues: Set<ObservedQueue>
}

const { durationBucketsSeconds } = controllerRuntimeBounds.controllerMetrics

/**
 * Uses the names of kube-controller-manager and of controller-runtime, so that existing dashboards work. Most figures
 * are plain numbers that a scrape reads. There is no histogram of reconciliations, because
 * workqueue_work_duration_seconds has the same figures.
 */
export function createControllerMetrics(metrics: Metrics): ControllerMetrics {
  const figures = new Map<string, QueueFigures>()
  observeQueues(metrics, figures)
  const shape = { labels: ['name'], buckets: durationBucketsSeconds }
  const waits = metrics.histogram(
    'workqueue_queue_duration_seconds',
    'How long in seconds an item stays in workqueue before being requested.',
    shape,
  )
  const works = metrics.histogram(
    'workqueue_work_duration_seconds',
    'How long in seconds processing an item from workqueue takes.',
    shape,
  )
  return {
    queue(name, queue) {
      const own = figures.get(name) ?? { adds: 0, retries: 0, queues: new Set() }
      figures.set(name, own)
      own.queues.add(queue)
      return {
        onAdded: () => void own.adds++,
        onDelayed: () => void own.retries++,
        onTaken: (waitedMs) => waits.observe({ name }, waitedMs / 1000),
        onDone: (heldMs) => works.observe({ name }, heldMs / 1000),
        [Symbol.dispose]: () => void own.queues.delete(queue),
      }
    },
    onReconciled: countReconciled(metrics),
  }
}

function observeQueues(metrics: Metrics, figures: ReadonlyMap<string, QueueFigures>): void {
  const observe = (
    type: 'counter' | 'gauge',
    [name, help]: readonly [string, string],
    valueOf: (of: QueueFigures) => number,
  ): void =>
    metrics.observed({ type, name, help, labels: ['name'] }, () =>
      Array.from(figures, ([queue, of]) => ({ labels: { name: queue }, value: valueOf(of) })),
    )
  observe(
    'counter',
    ['workqueue_adds_total', 'Total number of adds handled by workqueue'],
    ({ adds }) => adds,
  )
  observe(
    'counter',
    ['workqueue_retries_total', 'Total number of retries handled by workqueue'],
    ({ retries }) => retries,
  )
  observe('gauge', ['workqueue_depth', 'Current depth of workqueue'], ({ queues }) =>
    [...queues].reduce((sum, { depth }) => sum + depth, 0),
  )
  observe(
    'gauge',
    [
      'workqueue_unfinished_work_seconds',
      'How many seconds of work has done that is in progress and has not been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.',
    ],
    (of) => heldSeconds(of).reduce((sum, seconds) => sum + seconds, 0),
  )
  observe(
    'gauge',
    [
      'workqueue_longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running.',
    ],
    (of) => Math.max(0, ...heldSeconds(of)),
  )
}

function heldSeconds({ queues }: QueueFigures): number[] {
  return [...queues].flatMap((queue) => queue.heldMs().map((ms) => ms / 1000))
}

function countReconciled(metrics: Metrics): ControllerMetrics['onReconciled'] {
  const total = metrics.counter(
    'controller_runtime_reconcile_total',
    'Total number of reconciliations per controller',
    ['controller', 'result'],
  )
  const errors = metrics.counter(
    'controller_runtime_reconcile_errors_total',
    'Total number of reconciliation errors per controller',
    ['controller'],
  )
  const terminal = metrics.counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Total number of terminal reconciliation errors per controller',
    ['controller'],
  )
  return (controller, outcome) => {
    const isTerminal = outcome === 'terminal_error'
    const result = isTerminal ? 'error' : outcome
    total.inc({ controller, result })
    if (result === 'error') errors.inc({ controller })
    if (isTerminal) terminal.inc({ controller })
  }
}
