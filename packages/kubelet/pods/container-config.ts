import type { Container, EphemeralContainer, Pod, VolumeMount } from '@skerry/api'
import type {
  ContainerConfig,
  LinuxContainerResources,
  LinuxContainerSecurityContext,
  Mount,
} from '../cri/container-runtime.ts'
import type { ContainerDevices } from '../devices/device-plugin.ts'
import { expand } from '../env/expand.ts'
import { computeResources } from '../resources/resize.ts'
import { containerSpecHash, specOf } from '../pod/pod-spec.ts'
import { containerLogPath } from '../pod/pod-paths.ts'
import { runtimeAnnotations, runtimeLabels } from './runtime-labels.ts'

export const terminationMessagePathDefault = '/dev/termination-log'

export interface ContainerInput {
  pod: Pod
  container: Container | EphemeralContainer
  restartCount: number
  /** The runtime's id of the image. */
  imageId: string
  env: ReadonlyMap<string, string>
  mounts: Mount[]
  devices: ContainerConfig['devices']
  /** The parts that plugins add to the container for its extended resources. */
  plugged: readonly ContainerDevices[]
  resources: LinuxContainerResources
  securityContext: LinuxContainerSecurityContext
}

export function containerConfig(input: ContainerInput): ContainerConfig {
  const { pod, container, restartCount, env, plugged } = input
  const { name = '', namespace = '', uid = '' } = pod.metadata
  const value = (variable: string): string | undefined => env.get(variable)
  const terminationPath = container.terminationMessagePath ?? terminationMessagePathDefault
  return {
    metadata: { name: container.name, attempt: restartCount },
    image: { image: input.imageId },
    command: (container.command ?? []).map((text) => expand(text, value)),
    args: (container.args ?? []).map((text) => expand(text, value)),
    workingDir: container.workingDir ?? '',
    envs: [...plugged.flatMap(({ envs }) => Object.entries(envs)), ...env].map(([key, text]) => ({
      key,
      value: text,
    })),
    mounts: [...plugged.flatMap(({ mounts }) => mounts.map(pluggedMount)), ...input.mounts],
    devices: [...plugged.flatMap(({ devices }) => devices), ...input.devices],
    cdiDevices: plugged.flatMap(({ cdiDevices }) => cdiDevices),
    labels: {
      [runtimeLabels.podName]: name,
      [runtimeLabels.podNamespace]: namespace,
      [runtimeLabels.podUid]: uid,
      [runtimeLabels.containerName]: container.name,
    },
    annotations: {
      ...Object.assign({}, ...plugged.map(({ annotations }) => annotations)),
      [runtimeAnnotations.containerHash]: containerSpecHash(container),
      [runtimeAnnotations.resources]: JSON.stringify(computeResources(container)),
      [runtimeAnnotations.restartCount]: String(restartCount),
      [runtimeAnnotations.terminationMessagePath]: terminationPath,
      [runtimeAnnotations.terminationMessagePolicy]: container.terminationMessagePolicy ?? 'File',
    },
    logPath: containerLogPath(container.name, restartCount),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: { resources: input.resources, securityContext: input.securityContext },
  }
}

function pluggedMount({
  containerPath,
  hostPath,
  readOnly,
}: ContainerDevices['mounts'][number]): Mount {
  return { containerPath, hostPath, readonly: readOnly, propagation: 'PROPAGATION_PRIVATE' }
}

const propagations: Readonly<Record<string, Mount['propagation']>> = Object.freeze({
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
})

export function mountOf(volumeMount: VolumeMount, hostPath: string, isReadOnly: boolean): Mount {
  return {
    containerPath: volumeMount.mountPath.startsWith('/')
      ? volumeMount.mountPath
      : `/${volumeMount.mountPath}`,
    hostPath,
    readonly: isReadOnly || volumeMount.readOnly === true,
    propagation: propagations[volumeMount.mountPropagation ?? ''] ?? 'PROPAGATION_PRIVATE',
  }
}

/** A container that brings its own /etc/hosts keeps it. */
export function needsHostsFile(container: Container | EphemeralContainer): boolean {
  return !(container.volumeMounts ?? []).some(({ mountPath }) => mountPath === '/etc/hosts')
}

export function nodeCgroup(nodeName: string): string {
  return `/skerry/${nodeName}`
}

export function podCgroupParent(nodeName: string, pod: Pod): string {
  return `${nodeCgroup(nodeName)}/pod${pod.metadata.uid ?? ''}`
}

/** The pod's RuntimeClass; undefined for the default runtime. */
export function runtimeClassOf(pod: Pod): string | undefined {
  return specOf(pod).runtimeClassName || undefined
}
