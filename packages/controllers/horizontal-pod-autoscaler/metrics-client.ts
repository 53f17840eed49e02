import { messageOf } from '@skerry/base'
import {
  parseDurationMs,
  quantityToMilli,
  StatusError,
  type CrossVersionObjectReference,
} from '@skerry/api'
import { readBody, type ClusterClient, type Discovery } from '@skerry/client'
import type { PodMetric } from './pod-metrics.ts'
import { controllerBounds } from '../limits-table.ts'

/** Reads an autoscaler's figures from the resource, custom and external metrics APIs. */
export interface MetricsClient {
  /** Reads the figures of each pod. If `container` is empty, they are the sums of its containers. */
  resource(
    request: { namespace: string; selector: string; resource: string; container: string },
    signal: AbortSignal,
  ): Promise<Map<string, PodMetric>>
  pods(
    request: { namespace: string; selector: string; metric: string; metricSelector: string },
    signal: AbortSignal,
  ): Promise<Map<string, PodMetric>>
  /** Returns thousandths. */
  object(
    request: {
      namespace: string
      reference: CrossVersionObjectReference
      metric: string
      metricSelector: string
    },
    signal: AbortSignal,
  ): Promise<number>
  /** Returns thousandths, one for each series. */
  external(
    request: { namespace: string; metric: string; metricSelector: string },
    signal: AbortSignal,
  ): Promise<number[]>
}

const { windowDefaultMs } = controllerBounds.metricsClient

/** Errors use upstream's words, because people search for them. */
export function createMetricsClient(
  cluster: ClusterClient,
  discovery: (signal: AbortSignal) => Promise<Discovery>,
): MetricsClient {
  const custom = async (
    path: (version: string) => string,
    signal: AbortSignal,
  ): Promise<MetricItem[]> => {
    const version = await customVersion(discovery, signal)
    return items(await readJson(cluster, path(version), 'custom.metrics.k8s.io', signal))
  }
  return {
    async resource({ namespace, selector, resource, container }, signal) {
      const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods${queryOf({ labelSelector: selector })}`
      const found = await explained('resource', () =>
        readJson(cluster, path, 'pods.metrics.k8s.io', signal),
      )
      const all = items(found)
      if (all.length === 0) throw new Error('no metrics returned from resource metrics API')
      return new Map(all.flatMap((item) => usageOf(item, resource, container)))
    },
    async pods({ namespace, selector, metric, metricSelector }, signal) {
      const query = queryOf({ labelSelector: selector, metricLabelSelector: metricSelector })
      const found = await explained('custom', () =>
        custom((version) => {
          const root = `/apis/custom.metrics.k8s.io/${version}/namespaces/${namespace}`
          return `${root}/pods/*/${metric}${query}`
        }, signal),
      )
      if (found.length === 0) throw new Error('no metrics returned from custom metrics API')
      return new Map(found.map((item) => [item.describedObject?.name ?? '', metricOf(item)]))
    },
    async object({ namespace, reference, metric, metricSelector }, signal) {
      const query = queryOf({ metricLabelSelector: metricSelector })
      return explained('custom', async () => {
        const place = await placeOf(reference, namespace, discovery, signal)
        const found = await custom(
          (version) => `/apis/custom.metrics.k8s.io/${version}/${place}/${metric}${query}`,
          signal,
        )
        const [only] = found
        if (!only || found.length !== 1) {
          throw new Error(
            `the custom metrics API server returned ${found.length} results when we asked for exactly one`,
          )
        }
        return quantityToMilli(only.value ?? '0')
      })
    },
    async external({ namespace, metric, metricSelector }, signal) {
      const root = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${metric}`
      const path = `${root}${queryOf({ labelSelector: metricSelector })}`
      const found = await explained('external', () =>
        readJson(cluster, path, `${metric}.external.metrics.k8s.io`, signal),
      )
      const all = items(found)
      if (all.length === 0) throw new Error('no metrics returned from external metrics API')
      return all.map(({ value }) => quantityToMilli(value ?? '0'))
    },
  }
}

/** The fields that the lists of the three APIs share, as far as they are used here. */
interface MetricItem {
  readonly metadata?: { readonly name?: string }
  readonly describedObject?: { readonly name?: string }
  readonly timestamp?: string
  readonly window?: string
  readonly windowSeconds?: number
  readonly value?: string
  readonly containers?: readonly {
    readonly name?: string
    readonly usage?: Readonly<Record<string, string>>
  }[]
}

async function explained<T>(api: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    const why = messageOf(error)
    throw new Error(`unable to fetch metrics from ${api} metrics API: ${why}`, { cause: error })
  }
}

async function readJson(
  cluster: ClusterClient,
  path: string,
  what: string,
  signal: AbortSignal,
): Promise<unknown> {
  const request = { method: 'GET' as const, path, headers: { accept: 'application/json' } }
  const { status, body } = await cluster.raw(request, signal)
  const text = (await readBody(body)).toString('utf8')
  if (status === 200) return JSON.parse(text)
  throw refusal(status, text, what)
}

function refusal(status: number, text: string, what: string): Error {
  const value = parsed(text)
  if (typeof value === 'object' && value !== null && 'message' in value && 'kind' in value) {
    return new Error(String(value.message))
  }
  if (status === 404) {
    return new StatusError(
      'NotFound',
      `the server could not find the requested resource (get ${what})`,
    )
  }
  if (status === 503) {
    const message = `the server is currently unable to handle the request (get ${what})`
    return new StatusError('ServiceUnavailable', message)
  }
  return new Error(`the server answered ${status} (get ${what})`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The body is plain text, which aggregators send if no server answers.
    return undefined
  }
}

function items(value: unknown): MetricItem[] {
  const list = typeof value === 'object' && value !== null && 'items' in value ? value.items : []
  // An API of these groups answers with lists of such items; each field is checked before use.
  return Array.isArray(list) ? (list as MetricItem[]) : []
}

function usageOf(
  { metadata, timestamp, window = '', containers = [] }: MetricItem,
  resource: string,
  container: string,
): [string, PodMetric][] {
  const counted =
    container === '' ? containers : containers.filter(({ name }) => name === container)
  if (counted.length === 0) return []
  let milli = 0
  for (const { usage } of counted) {
    const value = usage?.[resource]
    if (value === undefined) return []
    milli += quantityToMilli(value)
  }
  const windowMs = parseDurationMs(window) ?? windowDefaultMs
  return [[metadata?.name ?? '', { atMs: Date.parse(timestamp ?? ''), windowMs, milli }]]
}

function metricOf({ timestamp = '', windowSeconds, value = '0' }: MetricItem): PodMetric {
  const windowMs = windowSeconds === undefined ? windowDefaultMs : windowSeconds * 1000
  return { atMs: Date.parse(timestamp), windowMs, milli: quantityToMilli(value) }
}

async function customVersion(
  discovery: (signal: AbortSignal) => Promise<Discovery>,
  signal: AbortSignal,
): Promise<string> {
  const { resources, stale } = await discovery(signal)
  const served = [...resources, ...stale].filter(({ group }) => group === 'custom.metrics.k8s.io')
  const version = ['v1beta2', 'v1beta1'].find((each) => served.some((one) => one.version === each))
  if (version !== undefined) return version
  throw new Error('no custom metrics API (custom.metrics.k8s.io) registered')
}

/** A Namespace is at the root, whatever name the reference has: it must not leave its own namespace. */
async function placeOf(
  { apiVersion = '', kind, name }: CrossVersionObjectReference,
  namespace: string,
  discovery: (signal: AbortSignal) => Promise<Discovery>,
  signal: AbortSignal,
): Promise<string> {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
  if (kind === 'Namespace' && group === '') return `namespaces/${namespace}/metrics`
  const { resources } = await discovery(signal)
  const found = resources.find((each) => each.group === group && each.kind === kind)
  if (!found) throw new Error(noMatch(group, kind))
  const qualified = group === '' ? found.resource : `${found.resource}.${group}`
  return `namespaces/${namespace}/${qualified}/${name}`
}

export function noMatch(group: string, kind: string): string {
  return `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`
}

function queryOf(parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(
    Object.entries(parameters).filter(([, value]) => value !== ''),
  ).toString()
  return query === '' ? '' : `?${query}`
}
