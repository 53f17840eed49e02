import type { KubeObject } from '@skerry/api'
import type { EventRecorder } from '@skerry/client'
import type { ResourceBinding } from '@skerry/karmada-kinds'
import type { PlacementResult } from './placement-input.ts'

/** Records an event on the binding and on its object: the clusters, or why there are none. */
export function recordPlacement(
  binding: ResourceBinding,
  { reason, message, clusters = [] }: PlacementResult,
  events: EventRecorder,
): void {
  const targets = clusters.map(({ name, replicas = 0 }) => `${name}:${replicas}`).join(', ')
  // Upstream itself has two spellings.
  const result = binding.metadata.namespace === undefined ? 'Result' : 'Result:'
  const text =
    reason === 'Success' ? succeeded(`${message} ${result} {${targets}}`) : failed(message)
  for (const object of [binding, boundObject(binding)]) events.event(object, text)
}

/** Records an event for each affinity that failed before one worked, or all failed. */
export function reportFailures(
  binding: ResourceBinding,
  { failures }: PlacementResult,
  events: EventRecorder,
): void {
  const { namespace, name = '' } = binding.metadata
  const subject = namespace === undefined ? name : `${namespace}/${name}`
  const kind = namespace === undefined ? 'ClusterResourceBinding' : 'ResourceBinding'
  for (const [at, failure] of failures.entries()) {
    const what = `failed to schedule ${kind}(${subject}) with clusterAffiliates index(${at})`
    const text = failed(`${what}: ${failure}`)
    for (const object of [binding, boundObject(binding)]) events.event(object, text)
  }
}

function succeeded(message: string) {
  return { type: 'Normal' as const, reason: 'ScheduleBindingSucceed', message }
}

function failed(message: string) {
  return { type: 'Warning' as const, reason: 'ScheduleBindingFailed', message }
}

function boundObject({ spec }: ResourceBinding): KubeObject {
  const { apiVersion, kind, ...metadata } = spec.resource
  return { apiVersion, kind, metadata }
}
