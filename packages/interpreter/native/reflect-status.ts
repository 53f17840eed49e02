import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { fieldAt, kindKey, textAt } from '@skerry/fleet-kinds'

/**
 * What of an object's status goes back to the control plane; undefined while there is none. Throws
 * when the annotation with its template's generation is no number: without that number an
 * aggregated status would never count as that of the newest template.
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
  // Without observedGeneration: that is what Karmada's own agent sends.
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

/** With the generations, by which the control plane sees whether the newest template is meant. */
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

/** 0 of an object whose Work was not made from a template. */
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
