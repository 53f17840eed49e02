import { isJsonObject, type JsonObject } from '@skerry/api'
import type { Child } from './child.ts'

/** Returns true once a workload runs what its spec says, with all replicas. Objects without pods are always there. */
export function isComplete({ kind, metadata, spec = {}, status = {} }: Child): boolean {
  if (kind !== 'Deployment' && kind !== 'StatefulSet' && kind !== 'DaemonSet') return true
  if (numberOf(status['observedGeneration']) < numberOf(metadata.generation)) return false
  if (kind === 'DaemonSet') return areDaemonsComplete(status)
  const replicas = spec['replicas'] === undefined ? 1 : numberOf(spec['replicas'])
  const running = numberOf(status[kind === 'Deployment' ? 'availableReplicas' : 'readyReplicas'])
  const updated = numberOf(status['updatedReplicas'])
  return (
    updated >= replicas - heldBack(spec['updateStrategy'], replicas) &&
    running >= replicas &&
    numberOf(status['replicas']) <= replicas
  )
}

function areDaemonsComplete(status: JsonObject): boolean {
  const wanted = numberOf(status['desiredNumberScheduled'])
  return (
    numberOf(status['updatedNumberScheduled']) >= wanted &&
    numberOf(status['numberAvailable']) >= wanted
  )
}

/** Returns the number of a StatefulSet's pods that it does not update by itself. */
function heldBack(strategy: unknown, replicas: number): number {
  if (!isJsonObject(strategy)) return 0
  if (strategy['type'] === 'OnDelete') return replicas
  const { rollingUpdate } = strategy
  return isJsonObject(rollingUpdate) ? numberOf(rollingUpdate['partition']) : 0
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
