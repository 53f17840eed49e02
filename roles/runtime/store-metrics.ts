import type { Metrics } from '@skerry/base'
import type { StoreCounters } from '@skerry/store'

/** Shows what an embedded store writes, and for how many changes. */
export function showStoreMetrics(metrics: Metrics, read: () => StoreCounters): void {
  metrics.observed(
    {
      type: 'counter',
      name: 'skerry_store_bytes_written_total',
      help: 'Bytes that the store gave to the kernel to write, its log and merges included.',
    },
    () => [{ value: read().bytesWritten }],
  )
  metrics.observed(
    {
      type: 'counter',
      name: 'skerry_store_writes_total',
      help: 'Changes of keys that the store acknowledged.',
    },
    () => [{ value: read().writes }],
  )
}
