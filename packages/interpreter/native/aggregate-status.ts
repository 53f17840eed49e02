import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import type { AggregatedStatusItem } from '@skerry/karmada-kinds'
import { countAt, fieldAt, kindKey, textAt, withField } from '@skerry/fleet-kinds'
import { aggregatedJob } from './aggregate-job.ts'
import { aggregatedIngresses } from './aggregate-load-balancer.ts'
import { aggregatedClaim, aggregatedPod, aggregatedVolume } from './aggregate-phases.ts'

/**
 * Returns the template with the combined status of its copies. A kind without a rule stays as it is, and so
 * does an object whose copies reported nothing new. Pure: times are those of the copies.
 */
export function aggregatedStatus(
  template: AnyObject,
  items: readonly AggregatedStatusItem[],
): AnyObject {
  const rule = rules[kindKey(template)]
  const status = rule?.(template, items)
  return status === undefined ? template : withField(template, ['status'], status)
}

export function hasAggregationRule(object: AnyObject): boolean {
  return rules[kindKey(object)] !== undefined
}

/** The new status; undefined leaves the old one. */
type AggregationRule = (
  template: AnyObject,
  items: readonly AggregatedStatusItem[],
) => JsonObject | undefined

/** The counts to sum. */
interface Counts {
  /** Counts reported even if they are 0, as the kinds' types require. */
  readonly required?: readonly string[]
  readonly optional?: readonly string[]
}

const rules: Readonly<Record<string, AggregationRule>> = Object.freeze({
  'apps/v1 Deployment': ofTemplate({
    optional: [
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
    ],
  }),
  'apps/v1 ReplicaSet': ofTemplate({
    required: ['replicas'],
    optional: ['readyReplicas', 'availableReplicas'],
  }),
  'apps/v1 DaemonSet': ofTemplate({
    required: [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
    ],
    optional: ['updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'],
  }),
  'apps/v1 StatefulSet': ofTemplate({
    required: ['replicas', 'availableReplicas'],
    optional: ['currentReplicas', 'readyReplicas', 'updatedReplicas'],
  }),
  'batch/v1 Job': aggregatedJob,
  'batch/v1 CronJob': aggregatedCronJob,
  'v1 Service': (template, items) =>
    textAt(template, 'spec', 'type') === 'LoadBalancer' ? aggregatedIngresses(items) : undefined,
  'networking.k8s.io/v1 Ingress': (_, items) => aggregatedIngresses(items),
  'v1 Pod': (_, items) => aggregatedPod(items),
  'v1 PersistentVolume': (_, items) => aggregatedVolume(items),
  'v1 PersistentVolumeClaim': (_, items) => aggregatedClaim(items),
  'policy/v1 PodDisruptionBudget': aggregatedBudget,
  'autoscaling/v2 HorizontalPodAutoscaler': (_, items) =>
    summed(items, { required: ['desiredReplicas'], optional: ['currentReplicas'] }),
})

function statusesOf(items: readonly AggregatedStatusItem[]): JsonObject[] {
  return items.flatMap(({ status }) => (isJsonObject(status) ? [status] : []))
}

function summed(
  items: readonly AggregatedStatusItem[],
  { required = [], optional = [] }: Counts,
): JsonObject {
  const statuses = statusesOf(items)
  const sumOf = (field: string) =>
    statuses.reduce((total, status) => total + countAt(status, field), 0)
  return Object.fromEntries([
    ...required.map((field) => [field, sumOf(field)]),
    ...optional.map((field) => [field, sumOf(field)]).filter(([, sum]) => sum !== 0),
  ])
}

/**
 * Sums the counts, and keeps the rest of the status. The newest template counts as observed when every copy
 * was made from it and has been observed since: delivery tools wait for that.
 */
function ofTemplate(counts: Counts): AggregationRule {
  return (template, items) => {
    const { generation = 0 } = template.metadata
    const old = fieldAt(template, 'status')
    const observed = statusesOf(items).filter((status) => isObserved(status, template))
    const isAll = observed.length === items.length
    const observedGeneration = isAll ? generation : countAt(old, 'observedGeneration')
    const replaced = new Set([
      'observedGeneration',
      ...(counts.required ?? []),
      ...(counts.optional ?? []),
    ])
    const rest = Object.entries(isJsonObject(old) ? old : {})
    return {
      ...Object.fromEntries(rest.filter(([field]) => !replaced.has(field))),
      ...(observedGeneration > 0 ? { observedGeneration } : {}),
      ...summed(items, counts),
    }
  }
}

/** Compares a StatefulSet's copy with itself, and every other one with its template, as Karmada does. */
function isObserved(status: JsonObject, { kind, metadata }: AnyObject): boolean {
  const generation = countAt(status, 'generation')
  const wanted = kind === 'StatefulSet' ? generation : (metadata.generation ?? 0)
  return (
    countAt(status, 'observedGeneration') >= generation &&
    countAt(status, 'resourceTemplateGeneration') >= wanted
  )
}

function aggregatedCronJob(_: AnyObject, items: readonly AggregatedStatusItem[]): JsonObject {
  const statuses = statusesOf(items)
  const active = statuses.flatMap((status) => {
    const jobs = fieldAt(status, 'active')
    return Array.isArray(jobs) ? jobs : []
  })
  const latest = (field: string) => latestTime(statuses.map((status) => textAt(status, field)))
  const [scheduled, succeeded] = [latest('lastScheduleTime'), latest('lastSuccessfulTime')]
  return {
    ...(active.length > 0 ? { active } : {}),
    ...(scheduled === undefined ? {} : { lastScheduleTime: scheduled }),
    ...(succeeded === undefined ? {} : { lastSuccessfulTime: succeeded }),
  }
}

/** Returns undefined if no copy has one. */
function latestTime(times: readonly string[]): string | undefined {
  return times
    .filter((time) => time !== '')
    .toSorted((a, b) => Date.parse(a) - Date.parse(b))
    .at(-1)
}

/** A pod has the same name in several clusters. */
function aggregatedBudget(_: AnyObject, items: readonly AggregatedStatusItem[]): JsonObject {
  const disrupted = items.flatMap(({ clusterName, status }) => {
    const pods = fieldAt(status, 'disruptedPods')
    if (!isJsonObject(pods)) return []
    return Object.entries(pods).map(([pod, time]) => [`${clusterName}/${pod}`, time] as const)
  })
  const required = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']
  return {
    ...(disrupted.length > 0 ? { disruptedPods: Object.fromEntries(disrupted) } : {}),
    ...summed(items, { required }),
  }
}
