import {
  binaryExponents,
  formatDurationMs,
  formatQuantity,
  quantityOf,
  type AnyObject,
} from '@skerry/api'
import type { Table, TableRow } from '@skerry/kinds'
import { apiTime } from '../contract/status-answers.ts'
import type { Usage } from './usage-history.ts'

/** NodeMetrics or PodMetrics, as metrics-server shows them. */
export interface MetricsObject {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly creationTimestamp: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly timestamp: string
  readonly window: string
  readonly usage?: ResourceUsage
  readonly containers?: readonly { readonly name: string; readonly usage: ResourceUsage }[]
}

export interface ResourceUsage {
  readonly cpu: string
  readonly memory: string
}

export function nodeMetrics(object: AnyObject, usage: Usage, nowMs: number): MetricsObject {
  return { ...headOf(object, usage, nowMs), usage: resourcesOf(usage) }
}

export function podMetrics(
  object: AnyObject,
  containers: ReadonlyMap<string, Usage>,
  nowMs: number,
): MetricsObject {
  const usages = [...containers.values()]
  // The oldest figure determines the age of the whole.
  const oldest = usages.reduce((least, usage) => (usage.atMs < least.atMs ? usage : least))
  return {
    ...headOf(object, oldest, nowMs),
    containers: [...containers].map(([name, usage]) => ({ name, usage: resourcesOf(usage) })),
  }
}

function headOf({ metadata }: AnyObject, { atMs, windowMs }: Usage, nowMs: number) {
  const { name = '', namespace, labels } = metadata
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: apiTime(nowMs),
      ...(labels && Object.keys(labels).length > 0 ? { labels } : {}),
    },
    timestamp: apiTime(atMs),
    window: formatDurationMs(Math.round(windowMs)),
  }
}

/** Formats CPU in nanocores and memory in bytes, with the units that metrics-server chooses. */
function resourcesOf({ cores, memoryBytes }: Usage): ResourceUsage {
  const nanos = BigInt(Math.round(cores * 1e9))
  return {
    cpu: nanos === 0n ? '0' : `${nanos}n`,
    memory: formatQuantity(quantityOf(Math.round(memoryBytes), 'BinarySI')),
  }
}

export function metricsTable(objects: readonly MetricsObject[], kind: string): Table {
  const column = (name: string, format: string, description: string) => ({
    name,
    type: 'string',
    format,
    description,
    priority: 0,
  })
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    columnDefinitions: [
      column('Name', 'name', 'Name of the resource'),
      column('cpu', 'quantity', ''),
      column('memory', 'quantity', ''),
      column('Window', 'duration', ''),
    ],
    rows: objects.map((object) => rowOf(object, kind)),
  }
}

function rowOf(object: MetricsObject, kind: string): TableRow {
  const { cpu, memory } = object.usage ?? totalOf(object.containers ?? [])
  return {
    cells: [object.metadata.name, cpu, memory, object.window],
    object: { kind, apiVersion: 'metrics.k8s.io/v1beta1', ...plain(object) },
  }
}

/** Converts to a general object, including labels. */
function plain({ metadata, ...rest }: MetricsObject) {
  return { metadata: { ...metadata, labels: { ...metadata.labels } }, ...rest }
}

function totalOf(containers: readonly { usage: ResourceUsage }[]): ResourceUsage {
  let nanos = 0n
  let bytes = 0n
  for (const { usage } of containers) {
    nanos += BigInt(usage.cpu.replace('n', ''))
    bytes += bytesOf(usage.memory)
  }
  return {
    cpu: nanos === 0n ? '0' : `${nanos}n`,
    memory: formatQuantity(quantityOf(bytes, 'BinarySI')),
  }
}

/** Parses a text that formatQuantity made from whole bytes. */
function bytesOf(text: string): bigint {
  const [, digits = '0', suffix = ''] = /^(\d+)(Ki|Mi|Gi|Ti)?$/.exec(text) ?? []
  return BigInt(digits) << BigInt(binaryExponents[suffix] ?? 0)
}
