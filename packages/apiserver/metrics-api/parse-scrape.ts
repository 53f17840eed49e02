/** The CPU and memory figures at one moment. */
export interface UsagePoint {
  readonly atMs: number
  /** The CPU time since the start, in seconds of one core. */
  readonly cpuSeconds: number
  readonly memoryBytes: number
  /** The start time of a container. */
  readonly startMs?: number
}

/** The figures of one node. Containers are keyed `namespace/pod/container`. */
export interface Scrape {
  readonly node: UsagePoint | undefined
  readonly containers: ReadonlyMap<string, UsagePoint>
}

type Draft = { -readonly [K in keyof UsagePoint]?: UsagePoint[K] }

/** Reads a kubelet's /metrics/resource (Prometheus' text format). Skips unknown metrics. */
export function parseScrape(text: string, nowMs: number, containersMax: number): Scrape {
  const node: Draft = {}
  const containers = new Map<string, Draft>()
  for (const [, name = '', labels = '', value = '', at] of text.matchAll(samples)) {
    const read = readers[name]
    if (!read) continue
    const figure = Number(value)
    if (!Number.isFinite(figure)) continue
    const draft = name.startsWith('node_') ? node : draftOf(containers, labels, containersMax)
    if (draft) read(draft, figure, at === undefined ? nowMs : Number(at))
  }
  return {
    node: pointOf(node),
    containers: new Map(
      [...containers].flatMap(([key, draft]) => {
        const point = pointOf(draft)
        return point ? [[key, point] as const] : []
      }),
    ),
  }
}

/** `name{labels} value [milliseconds]`, one per line. */
const samples = /^([a-z_]+)(?:\{([^\n]*)\})? ([^\s]+)(?: (\d+))?$/gm

const readers: Readonly<Record<string, (draft: Draft, value: number, atMs: number) => void>> =
  Object.freeze({
    node_cpu_usage_seconds_total: readCpu,
    node_memory_working_set_bytes: readMemory,
    container_cpu_usage_seconds_total: readCpu,
    container_memory_working_set_bytes: readMemory,
    container_start_time_seconds: (draft, value) => {
      draft.startMs = value * 1000
    },
  })

function readCpu(draft: Draft, value: number, atMs: number): void {
  draft.cpuSeconds = value
  draft.atMs = atMs
}

function readMemory(draft: Draft, value: number): void {
  draft.memoryBytes = value
}

function draftOf(
  containers: Map<string, Draft>,
  labelText: string,
  containersMax: number,
): Draft | undefined {
  const labels = new Map<string, string>()
  for (const [, name = '', value = ''] of labelText.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)) {
    labels.set(name, value)
  }
  const key = `${labels.get('namespace')}/${labels.get('pod')}/${labels.get('container')}`
  const known = containers.get(key)
  if (known) return known
  if (containers.size >= containersMax) return undefined
  const draft: Draft = {}
  containers.set(key, draft)
  return draft
}

function pointOf({ atMs, cpuSeconds, memoryBytes, startMs }: Draft): UsagePoint | undefined {
  if (atMs === undefined || cpuSeconds === undefined || memoryBytes === undefined) return undefined
  return { atMs, cpuSeconds, memoryBytes, ...(startMs === undefined ? {} : { startMs }) }
}
