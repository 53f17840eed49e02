import type { Scrape, UsagePoint } from './parse-scrape.ts'
import { metricsLimits } from '../limits-table.ts'

/** The resource usage of a node or container over a period of time. */
export interface Usage {
  /** The end of the period, in milliseconds since the Unix epoch. */
  readonly atMs: number
  readonly windowMs: number
  /** CPU usage in whole cores. */
  readonly cores: number
  readonly memoryBytes: number
}

/** Keeps the last two scrapes of each node: enough for a rate, and bounded by what runs there. */
export class UsageHistory {
  readonly #nodes = new Map<string, { readonly last: Scrape; readonly previous?: Scrape }>()

  add(nodeName: string, scrape: Scrape): void {
    const previous = this.#nodes.get(nodeName)?.last
    this.#nodes.set(nodeName, { last: scrape, ...(previous ? { previous } : {}) })
  }

  keepOnly(nodeNames: ReadonlySet<string>): void {
    for (const name of this.#nodes.keys()) if (!nodeNames.has(name)) this.#nodes.delete(name)
  }

  /** Returns true if a node was scraped only once. */
  lacksRate(): boolean {
    return [...this.#nodes.values()].some(({ previous }) => previous === undefined)
  }

  node(name: string): Usage | undefined {
    const known = this.#nodes.get(name)
    return known?.last.node && usageBetween(known.previous?.node, known.last.node)
  }

  /** Returns the usage by container name, or undefined while one of them has no rate yet. */
  pod(nodeName: string, namespace: string, name: string): Map<string, Usage> | undefined {
    const known = this.#nodes.get(nodeName)
    if (!known) return undefined
    const prefix = `${namespace}/${name}/`
    const found = new Map<string, Usage>()
    for (const [key, point] of known.last.containers) {
      if (!key.startsWith(prefix)) continue
      const usage = usageBetween(known.previous?.containers.get(key), point)
      if (!usage) return undefined
      found.set(key.slice(prefix.length), usage)
    }
    return found.size === 0 ? undefined : found
  }
}

/** Measures since the earlier point, or since the container's start if that was later. */
export function usageBetween(
  earlier: UsagePoint | undefined,
  later: UsagePoint,
): Usage | undefined {
  const isSameRun =
    earlier !== undefined &&
    later.cpuSeconds >= earlier.cpuSeconds &&
    (later.startMs === undefined || later.startMs <= earlier.atMs)
  if (isSameRun && later.atMs > earlier.atMs) return rate(earlier, later)
  const { startMs } = later
  if (startMs === undefined || later.atMs - startMs < metricsLimits.ageMinMs) return undefined
  return rate({ atMs: startMs, cpuSeconds: 0 }, later)
}

function rate(
  from: Pick<UsagePoint, 'atMs' | 'cpuSeconds'>,
  { atMs, cpuSeconds, memoryBytes }: UsagePoint,
): Usage {
  const windowMs = atMs - from.atMs
  return { atMs, windowMs, cores: ((cpuSeconds - from.cpuSeconds) * 1000) / windowMs, memoryBytes }
}
