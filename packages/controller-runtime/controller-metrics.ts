import type { Metrics } from '@skerry/base'

export interface Reconciled {
  controller: string
  outcome: string
  seconds: number
  /** The number of keys that wait in the queue afterwards. */
  waiting: number
}

export interface ControllerMetrics {
  onReconciled(reconciled: Reconciled): void
}

/** Uses controller-runtime's names, so that existing dashboards work. */
export function createControllerMetrics(metrics: Metrics): ControllerMetrics {
  const total = metrics.counter(
    'controller_runtime_reconcile_total',
    'Reconciliations per controller and result',
    ['controller', 'result'],
  )
  const seconds = metrics.histogram(
    'controller_runtime_reconcile_time_seconds',
    'Time per reconciliation',
    { labels: ['controller'] },
  )
  const depth = metrics.gauge('workqueue_depth', 'Keys that wait', ['name'])
  return {
    onReconciled({ controller, outcome, seconds: took, waiting }) {
      total.inc({ controller, result: outcome })
      seconds.observe({ controller }, took)
      depth.set({ name: controller }, waiting)
    },
  }
}
