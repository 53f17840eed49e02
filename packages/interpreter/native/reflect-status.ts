import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { fieldAt, kindKey, textAt } from '@skerry/fleet-kinds'

/**
 * Returns the part of an object's status to report to the control plane; undefined while there is none.
 * Throws if the annotation with its template's generation is not a number: without it an aggregated status
 * would never count as the newest template's.
 */
export function reflectedStatus(object: AnyObject): JsonObject | undefined {
  const status = fieldAt(object, 'status')
  if (!isJsonObject(status)) return undefined
  const rule = rules[kindKey(object)]
  return rule === undefined ? status : rule(status, object)
}

type ReflectRule = (status: JsonObject, object: AnyObject) => JsonObject | undefined

const rules: Readonly<Record<string, ReflectRule>> = Object.freeze({
  'apps/v1 Deployment': ofTemplate([
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'observedGeneration',
  ]),
  'apps/v1 ReplicaSet': ofTemplate([
    'replicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
  ]),
  'apps/v1 DaemonSet': ofTemplate([
    'currentNumberScheduled',
    'desiredNumberScheduled',
    'numberAvailable',
    'numberMisscheduled',
    'numberReady',
    'updatedNumberScheduled',
    'numberUnavailable',
    'observedGeneration',
  ]),
  // StatefulSets lack observedGeneration, as in Karmada's own agent.
  'apps/v1 StatefulSet': ofTemplate([
    'availableReplicas',
    'currentReplicas',
    'readyReplicas',
    'replicas',
    'updatedReplicas',
  ]),
  'v1 Service': (status, object) =>
    textAt(object, 'spec', 'type') === 'LoadBalancer' ? pick(status, ['loadBalancer']) : undefined,
  'batch/v1 Job': only([
    'active',
    'succeeded',
    'failed',
    'conditions',
    'startTime',
    'completionTime',
  ]),
  'policy/v1 PodDisruptionBudget': only([
    'disruptionsAllowed',
    'expectedPods',
    'desiredHealthy',
    'currentHealthy',
    'disruptedPods',
  ]),
  'autoscaling/v2 HorizontalPodAutoscaler': only(['currentReplicas', 'desiredReplicas']),
})

function only(fields: readonly string[]): ReflectRule {
  return (status) => pick(status, fields)
}

/** Reflects these fields with the generations by which the control plane recognizes the newest template. */
function ofTemplate(fields: readonly string[]): ReflectRule {
  return (status, object) => {
    const { generation = 0 } = object.metadata
    const templateGeneration = templateGenerationOf(object)
    return {
      ...(generation > 0 ? { generation } : {}),
      ...(templateGeneration > 0 ? { resourceTemplateGeneration: templateGeneration } : {}),
      ...pick(status, fields),
    }
  }
}

/** Returns 0 for an object whose Work was not made from a template. */
function templateGenerationOf({ kind, metadata }: AnyObject): number {
  const text = metadata.annotations?.[karmadaKeys.templateGeneration]
  if (text === undefined) return 0
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Error(
    `Cannot reflect status of ${kind} "${metadata.name ?? ''}": annotation ${karmadaKeys.templateGeneration} is ${JSON.stringify(text)}, no number`,
  )
}

function pick(status: JsonObject, fields: readonly string[]): JsonObject {
  const entries = fields.map((field) => [field, status[field]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== 0))
}
