import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** One registry per process role; names and units follow Prometheus' conventions. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter
  gauge(name: string, help: string, labels?: readonly string[]): Gauge
  /** The buckets, in the unit at the end of the name. */
  histogram(name: string, help: string, options?: HistogramShape): Histogram
  /** Reads the values at each scrape, for values that are kept elsewhere or change too often. */
  observed(shape: ObservedShape, read: () => Iterable<ObservedValue>): void
  /** Returns the metrics in Prometheus' text exposition format. */
  text(): Promise<string>
}

export interface HistogramShape {
  labels?: readonly string[]
  buckets?: readonly number[]
}

export interface ObservedShape {
  /** A counter's value never shrinks, and its name ends in _total. */
  readonly type: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

export interface ObservedValue {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
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
    observed({ type, name, help, labels = [] }, read) {
      const shape = { name, help, labelNames: [...labels], registers }
      if (type === 'gauge') {
        const gauge = new Gauge({
          ...shape,
          collect() {
            gauge.reset()
            for (const each of read()) gauge.set({ ...each.labels }, each.value)
          },
        })
        return
      }
      const counter = new Counter({
        ...shape,
        collect() {
          counter.reset()
          for (const each of read()) counter.inc({ ...each.labels }, each.value)
        },
      })
    },
    text: () => registry.metrics(),
  }
}
