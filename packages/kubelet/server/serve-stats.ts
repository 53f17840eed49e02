import { StatusError } from '@skerry/api'
import { asError, type Clock, type Logger, type Metrics } from '@skerry/base'
import {
  RuntimeError,
  type ContainerRuntime,
  type SandboxTraffic,
} from '../cri/container-runtime.ts'
import type { PodDirectory } from '../pods/pod-set.ts'
import { cadvisorMetrics } from '../stats/cadvisor-metrics.ts'
import { readMachineUsage, type MachineUsage } from '../stats/machine-usage.ts'
import { resourceMetrics } from '../stats/resource-metrics.ts'
import { statsSummary, type MeasuredVolume, type StatsSummary } from '../stats/stats-summary.ts'

/** The source of the statistics. */
export interface StatsSource {
  readonly nodeName: string
  /** A directory on the filesystem that pods use. */
  readonly dataDirectory: string
  /** The time since which the machine runs, in milliseconds since the Unix epoch. */
  readonly startedMs: number
  /** Returns the volumes of a pod that are measured. If omitted, none are. */
  readonly volumesOf?: (podUid: string) => readonly MeasuredVolume[]
}

export interface StatsDeps {
  readonly pods: PodDirectory
  readonly runtime: Pick<ContainerRuntime, 'listContainerStats' | 'listSandboxTraffic'>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

export interface StatsAnswer {
  readonly contentType: string
  readonly body: string
}

const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

/** Answers /metrics, /metrics/resource, /metrics/cadvisor and /stats/summary. Throws NotFound for others. */
export async function statsAnswer(
  path: string,
  source: StatsSource | undefined,
  deps: StatsDeps,
  signal: AbortSignal,
): Promise<StatsAnswer> {
  if (path === '/metrics') return { contentType: prometheusType, body: await deps.metrics.text() }
  if (!source) throw notFound(path)
  switch (path) {
    case '/metrics/resource': {
      const measured = await measureOrLog(source, deps, signal)
      return { contentType: prometheusType, body: resourceMetrics(measured?.summary) }
    }
    case '/metrics/cadvisor': {
      const { summary, machine } = await measure(source, deps, signal)
      return { contentType: prometheusType, body: cadvisorMetrics(summary, machine) }
    }
    case '/stats/summary':
    case '/stats/summary/': {
      const { summary } = await measure(source, deps, signal)
      return { contentType: 'application/json', body: JSON.stringify(summary) }
    }
    default:
      throw notFound(path)
  }
}

function notFound(path: string): StatusError {
  return new StatusError('NotFound', `404 page not found: ${path}`)
}

interface Measured {
  readonly summary: StatsSummary
  readonly machine: MachineUsage
}

async function measure(
  { nodeName, dataDirectory, startedMs, volumesOf }: StatsSource,
  { pods, runtime, clock }: StatsDeps,
  signal: AbortSignal,
): Promise<Measured> {
  const [machine, stats, traffic] = await Promise.all([
    readMachineUsage(dataDirectory, clock.now()),
    runtime.listContainerStats(signal),
    trafficOr(runtime, signal),
  ])
  return {
    machine,
    summary: statsSummary({
      nodeName,
      startedMs,
      machine,
      stats,
      traffic,
      pods: pods.list(),
      volumesOf,
    }),
  }
}

/** A runtime that does not count the traffic of pods still measures the rest. */
async function trafficOr(
  runtime: StatsDeps['runtime'],
  signal: AbortSignal,
): Promise<readonly SandboxTraffic[]> {
  try {
    return await runtime.listSandboxTraffic(signal)
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'Unimplemented') return []
    throw error
  }
}

/** The scrape itself succeeds: its error metric reports that nothing could be read. */
async function measureOrLog(
  source: StatsSource,
  deps: StatsDeps,
  signal: AbortSignal,
): Promise<Measured | undefined> {
  try {
    return await measure(source, deps, signal)
  } catch (error) {
    signal.throwIfAborted()
    deps.log.info('Figures of containers not read', { error: asError(error) })
    return undefined
  }
}
