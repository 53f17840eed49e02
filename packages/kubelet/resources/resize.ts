import { isDeepStrictEqual } from 'node:util'
import type { Container, EphemeralContainer, Pod } from '@skerry/api'
import {
  latestContainer,
  type ComputeResources,
  type ObservedContainer,
  type ObservedPod,
} from '../pod/observed-pod.ts'
import { specOf } from '../pod/pod-spec.ts'
import type { Rejection } from './admit-pod.ts'

type Resources = NonNullable<Container['resources']>
type Amounts = NonNullable<Resources['requests']>

/** The resources given after a container's creation, by container id. */
export type AppliedResources = ReadonlyMap<string, ComputeResources>

const resizable = ['cpu', 'memory'] as const

export function computeResources({ resources }: Container | EphemeralContainer): ComputeResources {
  return { requests: resizableOf(resources?.requests), limits: resizableOf(resources?.limits) }
}

function resizableOf(amounts: Amounts | undefined): Amounts {
  const picked: Amounts = {}
  for (const name of resizable) {
    const amount = amounts?.[name]
    if (amount !== undefined) picked[name] = amount
  }
  return picked
}

/** Returns the container's present resources; undefined if a release that did not record them created it. */
export function appliedTo(
  observed: ObservedContainer,
  applied: AppliedResources,
): ComputeResources | undefined {
  return applied.get(observed.id) ?? observed.resources
}

export type ResizePolicy = 'none' | 'update' | 'restart'

/** Decides how a running container gets the resources of its present spec. */
export function resizeOf(
  container: Container,
  observed: ObservedContainer,
  applied: AppliedResources,
): ResizePolicy {
  const has = appliedTo(observed, applied)
  if (has === undefined) return 'none'
  const wanted = computeResources(container)
  if (isDeepStrictEqual(has, wanted)) return 'none'
  const changed = resizable.filter(
    (name) =>
      has.requests[name] !== wanted.requests[name] || has.limits[name] !== wanted.limits[name],
  )
  const restarts = (container.resizePolicy ?? []).some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' && changed.some((name) => name === resourceName),
  )
  return restarts ? 'restart' : 'update'
}

export interface ResizeDecision {
  /** The pod as the node runs it: with the resources for which it has room. */
  readonly pod: Pod
  /** Why the pod does not have its spec's resources. */
  readonly pending?: Rejection
}

/**
 * Decides on a resize: a pod whose containers request other resources than they have gets them if the node
 * has room, and otherwise continues with its present ones (KEP-1287).
 */
export function decideResize(
  pod: Pod,
  { observed, applied }: { observed: ObservedPod; applied: AppliedResources },
  refuse: (pod: Pod) => Rejection | undefined,
): ResizeDecision {
  const spec = specOf(pod)
  const isChanged = (container: Container): boolean => {
    const running = runningOf(observed, container.name)
    return running !== undefined && resizeOf(container, running, applied) !== 'none'
  }
  if (![...spec.containers, ...(spec.initContainers ?? [])].some(isChanged)) return { pod }
  const pending = refuse(pod)
  if (pending === undefined) return { pod }
  const kept = (container: Container): Container => {
    const running = runningOf(observed, container.name)
    const has = running && appliedTo(running, applied)
    return has
      ? { ...container, resources: withCompute(container.resources ?? {}, has) }
      : container
  }
  const { initContainers } = spec
  return {
    pod: {
      ...pod,
      spec: {
        ...spec,
        containers: spec.containers.map(kept),
        ...(initContainers ? { initContainers: initContainers.map(kept) } : {}),
      },
    },
    pending,
  }
}

function runningOf(observed: ObservedPod, name: string): ObservedContainer | undefined {
  const latest = latestContainer(observed, name)
  return latest?.state === 'running' ? latest : undefined
}

/** The resources with these amounts of what can change; what else they name stays. */
export function withCompute(resources: Resources, compute: ComputeResources): Resources {
  const { requests, limits, ...rest } = resources
  const merged = {
    requests: { ...unresizable(requests), ...compute.requests },
    limits: { ...unresizable(limits), ...compute.limits },
  }
  return {
    ...rest,
    ...(Object.keys(merged.requests).length > 0 ? { requests: merged.requests } : {}),
    ...(Object.keys(merged.limits).length > 0 ? { limits: merged.limits } : {}),
  }
}

function unresizable(amounts: Amounts = {}): Amounts {
  const others = Object.entries(amounts).filter(([name]) => !resizable.some((one) => one === name))
  return Object.fromEntries(others)
}
