import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** One registry per process role; names and units follow Prometheus' conventions. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter
  gauge(name: string, help: string, labels?: readonly string[]): Gauge
  /** Buckets in the unit that the name ends in. */
  histogram(name: string, help: string, options?: HistogramShape): Histogram
  /** Prometheus text exposition format. */
  text(): Promise<string>
}

export interface HistogramShape {
  labels?: readonly string[]
  buckets?: readonly number[]
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  return {
    counter: (name, help, labels = []) =>
      new Counter({ name, help, labelNames: [...labels], registers }),
    gauge: (name, help, labels = []) =>
      new Gauge({ name, help, labelNames: [...labels], registers }),
    histogram: (name, help, shape = {}) =>
      new Histogram({
        name,
        help,
        labelNames: [...(shape.labels ?? [])],
        ...(shape.buckets ? { buckets: [...shape.buckets] } : {}),
        registers,
      }),
    text: () => registry.metrics(),
  }
}
