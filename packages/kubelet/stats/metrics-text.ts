/** A metric family in Prometheus' text exposition format, version 0.0.4. */
export interface MetricFamily {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: readonly MetricSample[]
}

export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** Milliseconds since the Unix epoch; undefined for the time of the scrape. */
  readonly atMs?: number | undefined
}

export function metricsText(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        (sample) => `${name}${labelText(sample.labels)} ${valueText(sample)}`,
      )
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
    })
    .join('')
}

export function counter(
  name: string,
  help: string,
  samples: readonly MetricSample[],
): MetricFamily {
  return { name, type: 'counter', help, samples }
}

export function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: 'gauge', help, samples }
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels)
  if (pairs.length === 0) return ''
  return `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function valueText({ value, atMs }: MetricSample): string {
  return atMs === undefined ? String(value) : `${value} ${Math.round(atMs)}`
}
