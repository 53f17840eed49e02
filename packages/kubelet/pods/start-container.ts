import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asError } from '@skerry/base'
import type { Container, EphemeralContainer, Pod, VolumeMount } from '@skerry/api'
import {
  isRuntimeError,
  type ContainerConfig,
  type Image,
  type Mount,
  type PodSandboxConfig,
} from '../cri/container-runtime.ts'
import { containerEnv, type EnvContext } from '../env/container-env.ts'
import { expand } from '../env/expand.ts'
import type { NodeContext } from './node-context.ts'
import { ensureShared } from '../mounts/shared-mount.ts'
import { linuxContainerResources } from '../resources/container-resources.ts'
import { mountSubPath } from '../volumes/sub-path.ts'
import type { PodVolumes } from '../volumes/pod-volumes.ts'
import {
  containerConfig,
  mountOf,
  needsHostsFile,
  terminationMessagePathDefault,
} from './container-config.ts'
import { containerEvent } from '../pod/container-event.ts'
import { hostsFile } from './hosts-file.ts'
import { mountImage } from './image-volumes.ts'
import { runHook } from './lifecycle-hook.ts'
import { latestContainer, type ObservedPod } from '../pod/observed-pod.ts'
import { podDirectory, podLogDirectory } from '../pod/pod-paths.ts'
import type { StartAction } from '../plan/pod-actions.ts'
import { specOf } from '../pod/pod-spec.ts'
import { containerSecurityContext } from './security-context.ts'
import { StartError, type StartFailureReason } from '../pod/start-error.ts'

export interface StartRequest {
  pod: Pod
  action: StartAction
  sandboxId: string
  sandboxConfig: PodSandboxConfig
  podIps: readonly string[]
  volumes: PodVolumes
  observed: ObservedPod
}

/**
 * Starts a container: image, configuration, create, start, postStart hook. Throws StartError; events are
 * recorded.
 */
export async function startContainer(
  context: NodeContext,
  request: StartRequest,
  signal: AbortSignal,
): Promise<void> {
  const { pod, action } = request
  const { container } = action
  const event = (type: 'Normal' | 'Warning', reason: string, message: string): void =>
    containerEvent(context.events, pod, container.name, { type, reason, message })
  try {
    const pullSecrets = context.objects.pullSecrets(pod)
    const image = await context.images.ensure({ pod, container, pullSecrets }, signal)
    const config = await as('CreateContainerConfigError', signal, () =>
      buildConfig(context, { ...request, image }, signal),
    )
    const { sandboxId: podSandboxId, sandboxConfig } = request
    const id = await as('CreateContainerError', signal, () =>
      context.runtime.createContainer({ podSandboxId, config, sandboxConfig }, signal),
    )
    event('Normal', 'Created', 'Container created')
    await as('RunContainerError', signal, () => context.runtime.startContainer(id, signal))
    event('Normal', 'Started', 'Container started')
    await runPostStart(context, request, id, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof StartError)) throw error
    const isPull = error.reason === 'ErrImagePull' || error.reason === 'ImagePullBackOff'
    const message = isPull || error.reason === 'ErrImageNeverPull' ? error.reason : error.message
    if (error.reason !== 'PostStartHookError') event('Warning', 'Failed', `Error: ${message}`)
    throw error
  }
}

async function as<T>(
  reason: StartFailureReason,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof StartError || isRuntimeError(cause, 'Unavailable')) throw cause
    const text = asError(cause).message.replace(/^rpc error: code = \w+ desc = /, '')
    throw new StartError(reason, text, { cause })
  }
}

async function runPostStart(
  context: NodeContext,
  { pod, action, podIps }: StartRequest,
  containerId: string,
  signal: AbortSignal,
): Promise<void> {
  const postStart = action.container.lifecycle?.postStart
  if (!postStart) return
  try {
    const target = { containerId, container: action.container, podIp: podIps[0] ?? '' }
    await runHook(postStart, target, context, signal)
  } catch (cause) {
    signal.throwIfAborted()
    containerEvent(context.events, pod, action.container.name, {
      type: 'Warning',
      reason: 'FailedPostStartHook',
      message: 'PostStartHook failed',
    })
    const seconds = specOf(pod).terminationGracePeriodSeconds ?? 30
    await context.runtime.stopContainer(containerId, seconds, signal)
    throw new StartError('PostStartHookError', asError(cause).message, { cause })
  }
}

type ConfigRequest = StartRequest & { image: Image }

async function buildConfig(
  context: NodeContext,
  request: ConfigRequest,
  signal: AbortSignal,
): Promise<ReturnType<typeof containerConfig>> {
  const { pod, action, image, observed } = request
  const { container, restartCount } = action
  const env = containerEnv(container, envContext(context, request))
  const target = 'targetContainerName' in container ? container.targetContainerName : undefined
  const targetContainerId = target ? latestContainer(observed, target)?.id : undefined
  if (target && targetContainerId === undefined) {
    const message = `unable to find target container ${target}`
    throw new StartError('CreateContainerConfigError', message)
  }
  await mkdir(join(podLogDirectory(context.config, pod), container.name), { recursive: true })
  return containerConfig({
    pod,
    container,
    restartCount,
    imageId: image.id,
    env,
    mounts: await buildMounts(context, { ...request, env }, signal),
    devices: buildDevices(request),
    plugged: await context.devices.give(pod, container, signal),
    resources: linuxContainerResources(pod, container, {
      cgroupMode: context.cgroups.mode,
      memoryCapacityBytes: context.facts.memoryCapacityBytes,
    }),
    securityContext: containerSecurityContext({
      pod,
      container,
      image,
      seccompDirectory: context.config.seccompDirectory,
      ...(targetContainerId === undefined ? {} : { targetContainerId }),
    }),
  })
}

function envContext(context: NodeContext, { pod, podIps }: StartRequest): EnvContext {
  const namespace = pod.metadata.namespace ?? ''
  const { objects, facts } = context
  return {
    pod,
    podIps,
    hostIps: facts.hostIps,
    allocatable: facts.allocatable,
    services: objects.services(namespace),
    api: context.config.network.api,
    configMap: (name) => objects.configMap(namespace, name),
    secret: (name) => objects.secret(namespace, name),
  }
}

type MountRequest = ConfigRequest & { env: ReadonlyMap<string, string> }

async function buildMounts(
  context: NodeContext,
  request: MountRequest,
  signal: AbortSignal,
): Promise<Mount[]> {
  const { container } = request.action
  const mounts: Mount[] = []
  for (const [index, volumeMount] of (container.volumeMounts ?? []).entries()) {
    const volume = request.volumes.byName.get(volumeMount.name)
    if (!volume) {
      const message = `cannot find volume "${volumeMount.name}" to mount into container "${container.name}"`
      throw new StartError('CreateContainerConfigError', message)
    }
    if (volume.isBlock) {
      const message = `volume "${volumeMount.name}" is a block device, but container "${container.name}" has it in volumeMounts`
      throw new StartError('CreateContainerConfigError', message)
    }
    const subPath = volumeMount.subPathExpr
      ? expand(volumeMount.subPathExpr, (name) => request.env.get(name))
      : (volumeMount.subPath ?? '')
    const { image } =
      specOf(request.pod).volumes?.find(({ name }) => name === volumeMount.name) ?? {}
    if (image) {
      const asked = { pod: request.pod, container, volume: image, volumeMount, subPath }
      mounts.push(await mountImage(context, asked, signal))
      continue
    }
    const hostPath = subPath
      ? await mountSubPath(
          {
            volumePath: volume.hostPath,
            subPath,
            target: subPathTarget(context, request, `${volumeMount.name}/${index}`),
          },
          signal,
        )
      : volume.hostPath
    await sharePlace(context, volumeMount, hostPath)
    mounts.push(mountOf(volumeMount, hostPath, volume.isReadOnly))
  }
  if (needsHostsFile(container)) mounts.push(await hostsMount(context, request))
  mounts.push(await terminationMount(context, request.pod, request.action))
  return mounts
}

/** A driver of storage mounts volumes in its container and wants this node to see them, or the other way round. */
async function sharePlace(
  context: NodeContext,
  { mountPropagation = 'None' }: VolumeMount,
  hostPath: string,
): Promise<void> {
  const { dataDirectory } = context.config
  const isInside = hostPath === dataDirectory || hostPath.startsWith(`${dataDirectory}/`)
  if (mountPropagation !== 'None' && isInside) await ensureShared(dataDirectory)
}

function buildDevices({ action, volumes }: ConfigRequest): ContainerConfig['devices'] {
  const { container } = action
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const volume = volumes.byName.get(name)
    if (!volume?.isBlock) {
      const message = `volume "${name}" is not a block device, but container "${container.name}" has it in volumeDevices`
      throw new StartError('CreateContainerConfigError', message)
    }
    const permissions = volume.isReadOnly ? 'r' : 'mrw'
    return { containerPath: devicePath, hostPath: volume.hostPath, permissions }
  })
}

function subPathTarget(context: NodeContext, request: MountRequest, suffix: string): string {
  const directory = podDirectory(context.config, request.pod.metadata.uid ?? '')
  return join(directory, 'volume-subpaths', request.action.container.name, suffix)
}

async function hostsMount(context: NodeContext, { pod, podIps }: MountRequest): Promise<Mount> {
  const hostPath = join(podDirectory(context.config, pod.metadata.uid ?? ''), 'etc-hosts')
  const hostFile = specOf(pod).hostNetwork ? await readFile('/etc/hosts', 'utf8') : ''
  const { clusterDomain } = context.config.network
  await mkdir(dirname(hostPath), { recursive: true })
  await writeFile(hostPath, hostsFile(pod, { podIps, clusterDomain, hostFile }), { mode: 0o644 })
  return {
    containerPath: '/etc/hosts',
    hostPath,
    readonly: false,
    propagation: 'PROPAGATION_PRIVATE',
  }
}

/** Mounts a separate file for each start, so that a message is never taken for a later one's. */
async function terminationMount(
  context: NodeContext,
  pod: Pod,
  { container, restartCount }: StartAction,
): Promise<Mount> {
  const directory = podDirectory(context.config, pod.metadata.uid ?? '')
  const hostPath = join(directory, 'containers', container.name, `termination-${restartCount}`)
  await mkdir(dirname(hostPath), { recursive: true })
  await using file = await open(hostPath, 'w')
  // Any user that the container runs as may write it; the umask would take that away.
  await file.chmod(0o666)
  return {
    containerPath: pathOf(container),
    hostPath,
    readonly: false,
    propagation: 'PROPAGATION_PRIVATE',
  }
}

function pathOf(container: Container | EphemeralContainer): string {
  return container.terminationMessagePath ?? terminationMessagePathDefault
}
