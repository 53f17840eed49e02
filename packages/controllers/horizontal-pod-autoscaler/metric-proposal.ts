import { messageOf } from '@skerry/base'
import {
  formatQuantity,
  labelSelectorOf,
  quantityOfMilli,
  quantityToFloat,
  quantityToMilli,
  type HorizontalPodAutoscaler,
  type MetricIdentifier,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
  type MetricValueStatus,
  type Pod,
} from '@skerry/api'
import { isPodReady } from '../pods/pod-state.ts'
import type { MetricsClient } from './metrics-client.ts'
import { groupPods, type PodMetrics } from './pod-metrics.ts'
import { requestsOf } from './pod-requests.ts'
import {
  replicasForAverage,
  replicasForShare,
  replicasForUtilization,
  replicasForValue,
  type Measurement,
  type Tolerances,
} from './replica-count.ts'
import { autoscalerDefaults } from '../limits-table.ts'

/** The result of one metric. */
export interface MetricProposal {
  readonly replicas: number
  /** The metric's name, in the words of conditions and events. */
  readonly name: string
  readonly status: MetricStatus
}

export interface ProposalInput {
  readonly autoscaler: HorizontalPodAutoscaler
  readonly specReplicas: number
  readonly statusReplicas: number
  /** The selector of the scaled pods, as text. */
  readonly selector: string
  readonly pods: readonly Pod[]
  readonly nowMs: number
  readonly client: MetricsClient
}

/** Reports that a metric has no value now. */
export class MetricError extends Error {
  override name = 'MetricError'
  /** The reason for the ScalingActive condition and the event. */
  readonly reason: string
  /** The text of the condition. The message itself has a prefix. */
  readonly detail: string

  constructor(reason: string, options: { detail: string; prefix: string; cause?: unknown }) {
    super(`${options.prefix}: ${options.detail}`, { cause: options.cause })
    this.reason = reason
    this.detail = options.detail
  }
}

/** Reads the metric and interprets it. Throws MetricError. */
export async function proposeFor(
  spec: MetricSpec,
  input: ProposalInput,
  signal: AbortSignal,
): Promise<MetricProposal> {
  const source = sources[spec.type]
  if (!source) {
    const detail = `unknown metric source type ${JSON.stringify(spec.type)}`
    throw new MetricError('InvalidMetricSourceType', { detail, prefix: 'invalid spec' })
  }
  try {
    return await source.propose(spec, input, signal)
  } catch (error) {
    signal.throwIfAborted()
    const detail = messageOf(error)
    throw new MetricError(source.reason, { detail, prefix: source.prefix(spec), cause: error })
  }
}

interface MetricSource {
  readonly reason: string
  readonly prefix: (spec: MetricSpec) => string
  readonly propose: (
    spec: MetricSpec,
    input: ProposalInput,
    signal: AbortSignal,
  ) => Promise<MetricProposal>
}

const sources: Readonly<Record<string, MetricSource>> = Object.freeze({
  Resource: {
    reason: 'FailedGetResourceMetric',
    prefix: ({ resource }: MetricSpec) => `failed to get ${resource?.name} resource metric value`,
    propose: proposeResource,
  },
  ContainerResource: {
    reason: 'FailedGetContainerResourceMetric',
    prefix: ({ containerResource }: MetricSpec) =>
      `failed to get ${containerResource?.container} container metric value`,
    propose: proposeContainerResource,
  },
  Pods: {
    reason: 'FailedGetPodsMetric',
    prefix: () => 'failed to get pods metric value',
    propose: proposePods,
  },
  Object: {
    reason: 'FailedGetObjectMetric',
    prefix: () => 'failed to get object metric value',
    propose: proposeObject,
  },
  External: {
    reason: 'FailedGetExternalMetric',
    prefix: ({ external }: MetricSpec) =>
      `failed to get ${external?.metric.name} external metric value`,
    propose: proposeExternal,
  },
})

async function proposeResource(
  { type, resource }: MetricSpec,
  input: ProposalInput,
  signal: AbortSignal,
): Promise<MetricProposal> {
  if (!resource) throw new RangeError('the metric names no resource')
  const { name, target } = resource
  const found = await measureResource({ resource: name, target, container: '' }, input, signal)
  return { ...found, status: { type, resource: { name, current: found.current } } }
}

async function proposeContainerResource(
  { type, containerResource }: MetricSpec,
  input: ProposalInput,
  signal: AbortSignal,
): Promise<MetricProposal> {
  if (!containerResource) throw new RangeError('the metric names no resource')
  const { name, container, target } = containerResource
  const found = await measureResource({ resource: name, target, container }, input, signal)
  const status = { type, containerResource: { name, container, current: found.current } }
  return { ...found, status }
}

async function measureResource(
  { resource, target, container }: { resource: string; target: MetricTarget; container: string },
  input: ProposalInput,
  signal: AbortSignal,
): Promise<{ replicas: number; name: string; current: MetricValueStatus }> {
  const { averageValue, averageUtilization } = target
  if (averageValue === undefined && averageUtilization === undefined) {
    const neither = 'neither an average utilization target nor an average value (usage) target'
    throw new RangeError(`invalid resource metric source: ${neither} was set`)
  }
  const what = averageValue === undefined ? 'utilization' : 'usage'
  return prefixed(`failed to get ${resource} ${what}`, async () => {
    const metrics = await prefixed(`unable to get metrics for resource ${resource}`, () =>
      input.client.resource({ ...placeOf(input), resource, container }, signal),
    )
    const count = countInput(metrics, resource === 'cpu', input)
    const found =
      averageUtilization === undefined || averageValue !== undefined
        ? replicasForAverage(count, quantityToMilli(averageValue ?? '0'))
        : replicasForUtilization(count, {
            requests: () => requestsOf(input.pods, resource, container),
            targetPercent: averageUtilization,
          })
    const word = container === '' ? '' : 'container '
    const name =
      averageValue === undefined
        ? `${resource} ${word}resource utilization (percentage of request)`
        : `${resource} resource`
    return { replicas: found.replicas, name, current: resourceValue(resource, found) }
  })
}

function resourceValue(resource: string, { milli, percent }: Measurement): MetricValueStatus {
  const format = resource === 'memory' ? 'BinarySI' : 'DecimalSI'
  const averageValue = formatQuantity(quantityOfMilli(milli, format))
  return { averageValue, ...(percent === undefined ? {} : { averageUtilization: percent }) }
}

async function proposePods(
  { type, pods }: MetricSpec,
  input: ProposalInput,
  signal: AbortSignal,
): Promise<MetricProposal> {
  if (!pods) throw new RangeError('the metric names no metric of pods')
  const { metric, target } = pods
  const metrics = await prefixed(`unable to get metric ${metric.name}`, () =>
    input.client.pods(
      {
        ...placeOf(input),
        metric: metric.name,
        metricSelector: selectorText(metric.selector),
      },
      signal,
    ),
  )
  const targetMilli = quantityToMilli(target.averageValue ?? '0')
  const found = replicasForAverage(countInput(metrics, false, input), targetMilli)
  const current = { averageValue: milliText(found.milli) }
  return {
    replicas: found.replicas,
    name: `pods metric ${metric.name}`,
    status: { type, pods: { metric: { ...metric }, current } },
  }
}

async function proposeObject(
  { type, object }: MetricSpec,
  input: ProposalInput,
  signal: AbortSignal,
): Promise<MetricProposal> {
  if (!object) throw new RangeError('the metric names no object')
  const { metric, target, describedObject } = object
  const namespace = input.autoscaler.metadata.namespace ?? ''
  // Upstream's words in upstream's order, because people search for them.
  const where = `${describedObject.kind} on ${namespace} ${describedObject.name}`
  const read = async (): Promise<number> => {
    const metricSelector = selectorText(metric.selector)
    const request = { namespace, reference: describedObject, metric: metric.name, metricSelector }
    try {
      return await input.client.object(request, signal)
    } catch (error) {
      const why = messageOf(error)
      throw new Error(`unable to get metric ${metric.name}: ${where}/${why}`, { cause: error })
    }
  }
  const { replicas, current, isShare } = await measureWhole(target, input, read, {
    share: `failed to get ${metric.name} object metric`,
    value: '',
    none: 'invalid object metric source: neither a value target nor an average value target was set',
  })
  const name = isShare
    ? `external metric ${metric.name}(${selectorValue(metric.selector)})`
    : `${describedObject.kind} metric ${metric.name}`
  return {
    replicas,
    name,
    status: { type, object: { describedObject, metric: { ...metric }, current } },
  }
}

async function proposeExternal(
  { type, external }: MetricSpec,
  input: ProposalInput,
  signal: AbortSignal,
): Promise<MetricProposal> {
  if (!external) throw new RangeError('the metric names no external metric')
  const { metric, target } = external
  const namespace = input.autoscaler.metadata.namespace ?? ''
  const shown = selectorValue(metric.selector)
  const read = (): Promise<number> =>
    prefixed(`unable to get external metric ${namespace}/${metric.name}/${shown}`, async () => {
      const metricSelector = selectorText(metric.selector)
      const values = await input.client.external(
        { namespace, metric: metric.name, metricSelector },
        signal,
      )
      return values.reduce((sum, value) => sum + value, 0)
    })
  const { replicas, current } = await measureWhole(target, input, read, {
    share: `failed to get ${metric.name} external metric`,
    value: `failed to get external metric ${metric.name}`,
    none: 'invalid external metric source: neither a value target nor an average value target was set',
  })
  const name = `external metric ${metric.name}(${shown})`
  return { replicas, name, status: { type, external: { metric: { ...metric }, current } } }
}

/** Compares one figure of the whole with its own target value, or with a share for each pod. */
async function measureWhole(
  { value, averageValue }: MetricTarget,
  input: ProposalInput,
  read: () => Promise<number>,
  texts: { share: string; value: string; none: string },
): Promise<{ replicas: number; current: MetricValueStatus; isShare: boolean }> {
  const tolerances = tolerancesOf(input.autoscaler)
  if (averageValue !== undefined) {
    const milli = await prefixed(texts.share, read)
    const target = quantityToMilli(averageValue)
    const found = replicasForShare(input.statusReplicas, milli, target, tolerances)
    const current = { averageValue: milliText(found.milli) }
    return { replicas: found.replicas, current, isShare: true }
  }
  if (value === undefined) throw new RangeError(texts.none)
  const milli = await (texts.value === '' ? read() : prefixed(texts.value, read))
  const ratio = milli / quantityToMilli(value)
  const readyCount = (): number => readyPods(input.pods)
  const replicas = replicasForValue(input.specReplicas, ratio, tolerances, readyCount)
  return { replicas, current: { value: milliText(milli) }, isShare: false }
}

function readyPods(pods: readonly Pod[]): number {
  if (pods.length === 0) {
    const none = 'no pods returned by selector while calculating replica count'
    throw new RangeError(`unable to calculate ready pods: ${none}`)
  }
  return pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length
}

function countInput(metrics: PodMetrics, isCpu: boolean, input: ProposalInput) {
  const { pods, autoscaler, specReplicas, nowMs } = input
  if (pods.length === 0) {
    throw new RangeError('no pods returned by selector while calculating replica count')
  }
  return {
    currentReplicas: specReplicas,
    metrics,
    groups: groupPods(pods, metrics, isCpu, nowMs),
    tolerances: tolerancesOf(autoscaler),
  }
}

function tolerancesOf({ spec }: HorizontalPodAutoscaler): Tolerances {
  const of = (text: string | undefined): number =>
    text === undefined ? autoscalerDefaults.tolerance : quantityToFloat(text)
  const { scaleUp, scaleDown } = spec.behavior ?? {}
  return { up: of(scaleUp?.tolerance), down: of(scaleDown?.tolerance) }
}

function placeOf({ autoscaler, selector }: ProposalInput) {
  return { namespace: autoscaler.metadata.namespace ?? '', selector }
}

async function prefixed<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const why = messageOf(error)
    throw new Error(`${prefix}: ${why}`, { cause: error })
  }
}

function milliText(milli: number): string {
  return formatQuantity(quantityOfMilli(Math.trunc(milli)))
}

function selectorText(selector: MetricIdentifier['selector']): string {
  return selector === undefined ? '' : labelSelectorOf(selector).toString()
}

/** Formats a selector as upstream prints it in messages. */
function selectorValue(selector: MetricIdentifier['selector']): string {
  if (selector === undefined) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const texts = labels.map(([key, value]) => `${key}: ${value},`).join('')
  return `&LabelSelector{MatchLabels:map[string]string{${texts}},MatchExpressions:[]LabelSelectorRequirement{},}`
}
