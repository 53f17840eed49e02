import type { Container, ContainerState, ContainerStatus, EphemeralContainer } from '@skerry/api'
import {
  usableSandbox,
  type ComputeResources,
  type ObservedContainer,
  type ObservedPod,
} from '../pod/observed-pod.ts'
import { appliedTo, withCompute } from '../resources/resize.ts'
import {
  isHostNetwork,
  isSidecar,
  shouldRestart,
  specOf,
  type ContainerKind,
} from '../pod/pod-spec.ts'
import type { ContainerProbes } from '../probes/probe-results.ts'
import type { PodStatusInput } from './pod-status.ts'

/** The statuses of the containers of one list of the spec, in its order. */
export function containerStatuses(
  input: PodStatusInput,
  containers: readonly (Container | EphemeralContainer)[],
  kind: ContainerKind,
): ContainerStatus[] {
  const before = [
    ...(input.previous.containerStatuses ?? []),
    ...(input.previous.initContainerStatuses ?? []),
    ...(input.previous.ephemeralContainerStatuses ?? []),
  ]
  return containers.map((container) => {
    const previous = before.find(({ name }) => name === container.name)
    const status = statusOf(input, { container, kind, previous })
    return { ...status, ...readiness(input, container, status) }
  })
}

interface StatusCase {
  container: Container | EphemeralContainer
  kind: ContainerKind
  previous: ContainerStatus | undefined
}

function statusOf(input: PodStatusInput, which: StatusCase): ContainerStatus {
  const { container } = which
  const [latest, earlier] = input.observed.containers.filter(({ name }) => name === container.name)
  const status = latest
    ? fromObserved(input, { latest, earlier }, which)
    : { ...fromNothing(input, which), ...mountsOf(container) }
  const waiting = input.waiting.get(container.name)
  if (!waiting || !willStart(input, which, latest)) return status
  return {
    ...status,
    ...(status.state?.terminated ? { lastState: { terminated: status.state.terminated } } : {}),
    state: { waiting: { reason: waiting.reason, message: waiting.message } },
  }
}

function fromObserved(
  input: PodStatusInput,
  { latest, earlier }: { latest: ObservedContainer; earlier: ObservedContainer | undefined },
  { container, previous }: StatusCase,
): ContainerStatus {
  const lastTerminated =
    earlier?.state === 'exited'
      ? terminated(earlier)
      : (previous?.lastState?.terminated ??
        (previous?.containerID !== containerId(latest) ? previous?.state?.terminated : undefined))
  return {
    name: container.name,
    image: latest.image,
    imageID: latest.imageId,
    containerID: containerId(latest),
    restartCount: Math.max(latest.restartCount, previous?.restartCount ?? 0),
    ready: false,
    state: stateOf(latest),
    lastState: lastTerminated ? { terminated: lastTerminated } : {},
    ...resourcesOf(container, appliedTo(latest, input.applied ?? new Map())),
    ...mountsOf(container),
  }
}

function stateOf(observed: ObservedContainer): ContainerState {
  switch (observed.state) {
    case 'running':
      return { running: { startedAt: timestamp(observed.startedAtMs) } }
    case 'exited':
      return { terminated: terminated(observed) }
    case 'created':
    case 'unknown':
      return { waiting: {} }
    default:
      return observed.state satisfies never
  }
}

function terminated(observed: ObservedContainer): NonNullable<ContainerState['terminated']> {
  return {
    exitCode: observed.exitCode,
    ...(observed.reason ? { reason: observed.reason } : {}),
    ...(observed.message ? { message: observed.message } : {}),
    startedAt: timestampOrNull(observed.startedAtMs),
    finishedAt: timestampOrNull(observed.finishedAtMs),
    containerID: containerId(observed),
  }
}

/** The runtime has no such container: it was never made, or it was cleaned away. */
function fromNothing(input: PodStatusInput, which: StatusCase): ContainerStatus {
  const { container, previous, kind } = which
  const base = {
    name: container.name,
    image: container.image ?? '',
    imageID: '',
    ready: false,
    restartCount: previous?.restartCount ?? 0,
    lastState: previous?.lastState ?? {},
  }
  if (previous?.state?.terminated) return { ...previous, ready: kind === 'init' && previous.ready }
  if (kind === 'init' && hasRegular(input)) {
    return { ...base, state: { terminated: completedUnseen } }
  }
  if (previous?.state?.running) return lostWhileRunning(input, { ...base, ...previous }, base)
  if (input.isTerminal && isInitialized(input)) {
    return { ...base, state: { terminated: unseenAtEnd } }
  }
  return { ...base, state: { waiting: { reason: waitingReason(input) } } }
}

const completedUnseen = Object.freeze({
  exitCode: 0,
  reason: 'Completed',
  message:
    'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
})

const unseenAtEnd = Object.freeze({
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
})

/** Reports a lost container as its last state, so that the pod does not look as if it had never run. */
function lostWhileRunning(
  input: PodStatusInput,
  previous: ContainerStatus,
  base: ContainerStatus,
): ContainerStatus {
  if (input.isTerminal) return { ...previous, state: { terminated: unseenAtEnd } }
  const isDeleted = input.pod.metadata.deletionTimestamp !== undefined
  return {
    ...base,
    restartCount: previous.restartCount + (isDeleted ? 0 : 1),
    state: { waiting: { reason: waitingReason(input) } },
    lastState: {
      terminated: {
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message:
          'The container could not be located when the pod was deleted.  The container used to be Running',
      },
    },
  }
}

function waitingReason(input: PodStatusInput): string {
  const hasInit = (specOf(input.pod).initContainers ?? []).length > 0
  return hasInit ? 'PodInitializing' : 'ContainerCreating'
}

/** Until then a missing container has never run, rather than been lost. */
function isInitialized(input: PodStatusInput): boolean {
  const plain = (specOf(input.pod).initContainers ?? []).filter((one) => !isSidecar(one))
  const last = plain.at(-1)
  if (last === undefined || hasRegular(input)) return true
  const observed = input.observed.containers.find(({ name }) => name === last.name)
  if (observed !== undefined) return observed.state === 'exited' && observed.exitCode === 0
  const before = input.previous.initContainerStatuses?.find(({ name }) => name === last.name)
  return before?.state?.terminated?.exitCode === 0
}

function hasRegular(input: PodStatusInput): boolean {
  const names = specOf(input.pod).containers.map(({ name }) => name)
  return input.observed.containers.some(({ name }) => names.includes(name))
}

function willStart(
  input: PodStatusInput,
  { container, kind }: StatusCase,
  latest: ObservedContainer | undefined,
): boolean {
  if (input.pod.metadata.deletionTimestamp || input.isTerminal) return false
  if (latest?.state === 'running') return false
  if (latest?.state !== 'exited') return true
  if (kind === 'init' && latest.exitCode === 0) return false
  return shouldRestart(container, specOf(input.pod), latest.exitCode)
}

/** Returns ready and started, from the probes; an init container is ready once it has succeeded. */
function readiness(
  input: PodStatusInput,
  container: Container | EphemeralContainer,
  status: ContainerStatus,
): { ready: boolean; started: boolean } {
  const isPlainInit =
    container.restartPolicy !== 'Always' &&
    (specOf(input.pod).initContainers ?? []).some(({ name }) => name === container.name)
  if (isPlainInit) {
    const isRunning = status.state?.running !== undefined
    return { ready: status.state?.terminated?.exitCode === 0, started: isRunning }
  }
  if (!status.state?.running) return { ready: false, started: false }
  const latest = runningContainer(input.observed, container.name)
  const probes: ContainerProbes = (latest && input.probes.get(latest.id)) ?? {}
  const started = !container.startupProbe || probes.startup === 'success'
  const isServing = !container.readinessProbe || probes.readiness === 'success'
  const ready = started && isServing && hasNetwork(input)
  return { ready, started }
}

/** A pod without a network is not Ready, whatever its containers' probes reported last. */
export function hasNetwork({ pod, observed, isCutOff = false }: PodStatusInput): boolean {
  const isHostNetworked = isHostNetwork(pod)
  return usableSandbox(observed, isHostNetworked) !== undefined && (isHostNetworked || !isCutOff)
}

function runningContainer(observed: ObservedPod, name: string): ObservedContainer | undefined {
  return observed.containers.find((one) => one.name === name && one.state === 'running')
}

/** Returns the present resources; the wanted ones are in its allocated resources. */
function resourcesOf(
  container: Container | EphemeralContainer,
  has: ComputeResources | undefined,
): Partial<ContainerStatus> {
  const { resources } = container
  if (!resources || Object.keys(resources).length === 0) return {}
  return {
    resources: has ? withCompute(resources, has) : resources,
    ...(resources.requests ? { allocatedResources: resources.requests } : {}),
  }
}

function mountsOf(container: Container | EphemeralContainer): Partial<ContainerStatus> {
  const mounts = container.volumeMounts ?? []
  if (mounts.length === 0) return {}
  return {
    volumeMounts: mounts.map(({ name, mountPath, readOnly }) => ({
      name,
      mountPath,
      ...(readOnly ? { readOnly: true, recursiveReadOnly: 'Disabled' } : {}),
    })),
  }
}

function containerId(observed: ObservedContainer): string {
  return `containerd://${observed.id}`
}

/** Formats RFC 3339 in whole seconds, like metav1.Time. */
export function timestamp(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

function timestampOrNull(ms: number): string {
  return timestamp(Math.max(0, ms))
}
