import type { Container, EphemeralContainer, Pod } from '@skerry/api'
import type { ProbeResults } from '../probes/probe-results.ts'
import {
  latestContainer,
  type ObservedContainer,
  type ObservedPod,
  type ObservedSandbox,
} from '../pod/observed-pod.ts'
import { resizeOf, type AppliedResources } from '../resources/resize.ts'
import { containerSpecHash, specOf, type ContainerKind } from '../pod/pod-spec.ts'
import type { RestartBackoff } from '../pod/restart-backoff.ts'

export interface Termination {
  /** The time of the first kill, from which the grace period runs. */
  readonly startedAtMs: number
  readonly graceSeconds: number
  /** Becomes the pod's phase, reason and message. If omitted, they follow from the containers. */
  readonly failure?: { readonly reason: string; readonly message: string }
}

export interface PodPlanInput {
  pod: Pod
  observed: ObservedPod
  probes: ProbeResults
  /** The delays by backoffKey. */
  backoffs: ReadonlyMap<string, RestartBackoff>
  /** Set once the pod must end, for whatever reason; never unset. */
  termination?: Termination
  /** Resources that containers were given after their creation. If omitted, none. */
  applied?: AppliedResources
  nowMs: number
}

export type KillReason =
  | 'liveness'
  | 'startup'
  | 'spec-changed'
  | 'resized'
  | 'unknown-state'
  | 'pod-ends'

export interface KillAction {
  readonly container: ObservedContainer
  readonly reason: KillReason
  /** The message of the Killing event. */
  readonly message: string
  readonly graceSeconds: number
}

/** New resources for a container that keeps running. */
export interface UpdateAction {
  readonly observed: ObservedContainer
  readonly container: Container
}

export interface StartAction {
  readonly kind: ContainerKind
  readonly container: Container | EphemeralContainer
  readonly restartCount: number
  /** The time at which a container of this name last ended, from which the back-off grows. */
  readonly afterExitMs?: number
}

export interface WaitingContainer {
  readonly name: string
  readonly reason: string
  readonly message: string
  readonly untilMs: number
}

/** The actions, carried out in the order of the fields. */
export interface PodPlan {
  readonly kill: readonly KillAction[]
  readonly update: readonly UpdateAction[]
  /** The sandboxes in which no container may run any more. */
  readonly stopSandboxes: readonly ObservedSandbox[]
  /** The attempt of a new sandbox; undefined keeps the newest one. */
  readonly createSandbox: number | undefined
  readonly start: readonly StartAction[]
  readonly backOff: readonly WaitingContainer[]
  /** True if nothing should run any more: the pod has its result. */
  readonly isFinished: boolean
  /** The latest time at which to plan again though nothing happened. */
  readonly wakeAtMs: number | undefined
}

export const emptyPlan: PodPlan = Object.freeze({
  kill: [],
  update: [],
  stopSandboxes: [],
  createSandbox: undefined,
  start: [],
  backOff: [],
  isFinished: false,
  wakeAtMs: undefined,
})

/**
 * Returns the kill action for a running container; undefined if it may keep running. It also serves sidecars,
 * whose messages name an "Init container".
 */
export function killOfRunning(
  input: PodPlanInput,
  container: Container,
  observed: ObservedContainer,
  noun = 'Container',
): KillAction | undefined {
  const spec = specOf(input.pod)
  const podGrace = spec.terminationGracePeriodSeconds ?? 30
  const kill = (reason: KillReason, message: string, graceSeconds = podGrace): KillAction => ({
    container: observed,
    reason,
    message,
    graceSeconds,
  })
  if (observed.specHash !== containerSpecHash(container)) {
    return kill('spec-changed', `${noun} ${container.name} definition changed`)
  }
  if (resizeOf(container, observed, input.applied ?? noneApplied) === 'restart') {
    return kill('resized', `${noun} ${container.name} resize requires restart`)
  }
  const results = input.probes.get(observed.id)
  if (results?.liveness === 'failure') {
    const grace = container.livenessProbe?.terminationGracePeriodSeconds
    return kill('liveness', `${noun} ${container.name} failed liveness probe`, grace)
  }
  if (results?.startup === 'failure') {
    const grace = container.startupProbe?.terminationGracePeriodSeconds
    return kill('startup', `${noun} ${container.name} failed startup probe`, grace)
  }
  return undefined
}

const noneApplied: AppliedResources = new Map()

/** Returns the updates of a container that keeps running; none if its resources are right. */
export function updatesOf(
  input: PodPlanInput,
  container: Container,
  observed: ObservedContainer,
): UpdateAction[] {
  const resize = resizeOf(container, observed, input.applied ?? noneApplied)
  return resize === 'update' ? [{ observed, container }] : []
}

export function killOfUnknown(observed: ObservedContainer, noun = 'Container'): KillAction {
  return {
    container: observed,
    reason: 'unknown-state',
    message: `${noun} is in "unknown" state, try killing it before restart`,
    graceSeconds: 2,
  }
}

/** A container whose spec changed starts without the old one's delay. */
export function backoffKey(container: Container | EphemeralContainer): string {
  return `${container.name}/${containerSpecHash(container)}`
}

export function startOf(
  input: PodPlanInput,
  container: Container | EphemeralContainer,
  kind: ContainerKind,
): StartAction {
  const latest = latestContainer(input.observed, container.name)
  // This also counts while one that still runs is about to be killed: a failing probe is a crash loop, too.
  const ended = input.observed.containers.find(
    ({ name, state }) => name === container.name && state === 'exited',
  )
  const reported = latest ? undefined : reportedRestarts(input.pod, container.name)
  return {
    kind,
    container,
    restartCount: latest ? latest.restartCount + 1 : (reported ?? 0),
    ...(ended ? { afterExitMs: ended.finishedAtMs } : {}),
  }
}

/** The runtime has forgotten the containers, but the API remembers that there were some. */
function reportedRestarts(pod: Pod, name: string): number | undefined {
  const statuses = [
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.initContainerStatuses ?? []),
  ]
  const status = statuses.find((candidate) => candidate.name === name)
  return status?.containerID ? status.restartCount + 1 : undefined
}
