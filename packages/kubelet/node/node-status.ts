import type { Node, NodeCondition, NodeStatus } from '@skerry/api'
import type { Image, RuntimeCondition } from '../cri/container-runtime.ts'
import type { ResolvedConfig } from '../kubelet-config.ts'
import { timestamp } from '../status/container-statuses.ts'
import type { DeviceCount } from '../devices/device-node.ts'
import type { NodeResources } from './node-facts.ts'
import { kubeletBounds } from '../limits-table.ts'

export interface NodePressure {
  memory: boolean
  disk: boolean
  pids: boolean
}

export interface NodeStatusInput {
  config: ResolvedConfig
  previous: NodeStatus
  resources: NodeResources
  systemInfo: NonNullable<NodeStatus['nodeInfo']>
  images: readonly Image[]
  /** Undefined if the runtime does not answer. */
  runtimeConditions: readonly RuntimeCondition[] | undefined
  pressure: NodePressure
  networkProblems: readonly string[]
  /** The attached volumes that pods use, which the controller therefore leaves attached. */
  volumesInUse: readonly string[]
  devices: Readonly<Record<string, DeviceCount>>
  /** If omitted, nothing is said about the clock. */
  clock?: { fault: string | undefined }
  nowMs: number
}

const { imagesMax, imageNamesMax } = kubeletBounds.nodeStatus

/** Features for running pods that not every node has (KEP-5328). */
const declaredFeatures = ['InPlacePodVerticalScalingInitContainers']

export function nodeStatus(input: NodeStatusInput): NodeStatus {
  const { config, previous, resources, nowMs } = input
  const addresses = [
    ...config.nodeIps().map((address) => ({ type: 'InternalIP', address })),
    { type: 'Hostname', address: config.nodeName },
  ]
  return {
    addresses,
    capacity: { ...resources.capacity, ...counted(input.devices, 'capacity') },
    allocatable: { ...resources.allocatable, ...counted(input.devices, 'allocatable') },
    conditions: conditionsOf(input).map((fact) => {
      const old = previous.conditions?.find(({ type }) => type === fact.type)
      const isSame = old?.status === fact.status && old.lastTransitionTime
      return {
        ...fact,
        lastHeartbeatTime: timestamp(nowMs),
        lastTransitionTime: isSame ? old.lastTransitionTime : timestamp(nowMs),
      }
    }) as NodeCondition[], // each field of a condition is set above
    daemonEndpoints: { kubeletEndpoint: { Port: config.registration.port } },
    nodeInfo: input.systemInfo,
    images: imagesOf(input.images),
    volumesInUse: [...input.volumesInUse],
    declaredFeatures: [...declaredFeatures],
  }
}

function counted(
  devices: NodeStatusInput['devices'],
  what: keyof DeviceCount,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(devices).map(([name, count]) => [name, String(count[what])]),
  )
}

type Fact = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>

function conditionsOf(input: NodeStatusInput): Fact[] {
  const { pressure, runtimeConditions, networkProblems, clock } = input
  return [
    pressureFact('MemoryPressure', pressure.memory, {
      reason: 'KubeletHasInsufficientMemory',
      calm: 'KubeletHasSufficientMemory',
      message: 'kubelet has insufficient memory available',
      calmMessage: 'kubelet has sufficient memory available',
    }),
    pressureFact('DiskPressure', pressure.disk, {
      reason: 'KubeletHasDiskPressure',
      calm: 'KubeletHasNoDiskPressure',
      message: 'kubelet has disk pressure',
      calmMessage: 'kubelet has no disk pressure',
    }),
    pressureFact('PIDPressure', pressure.pids, {
      reason: 'KubeletHasInsufficientPID',
      calm: 'KubeletHasSufficientPID',
      message: 'kubelet has insufficient PID available',
      calmMessage: 'kubelet has sufficient PID available',
    }),
    ...(clock ? [clockFact(clock.fault)] : []),
    readyFact(runtimeConditions, networkProblems),
  ]
}

/** The node's own condition: upstream's kubelet has none for clocks. */
function clockFact(fault: string | undefined): Fact {
  return fault === undefined
    ? { type: 'ClockProblem', status: 'False', reason: 'ClockAgrees', message: 'clock is right' }
    : { type: 'ClockProblem', status: 'True', reason: 'ClockDiffers', message: fault }
}

interface PressureWords {
  reason: string
  calm: string
  message: string
  calmMessage: string
}

function pressureFact(type: string, isPressed: boolean, words: PressureWords): Fact {
  return isPressed
    ? { type, status: 'True', reason: words.reason, message: words.message }
    : { type, status: 'False', reason: words.calm, message: words.calmMessage }
}

function readyFact(
  conditions: readonly RuntimeCondition[] | undefined,
  networkProblems: readonly string[],
): Fact {
  const ofRuntime = conditions
    ? conditions
        .filter(({ status }) => !status)
        .map(({ type, reason, message }) =>
          type === 'NetworkReady'
            ? `container runtime network not ready: NetworkReady=false reason:${reason} message:${message}`
            : `container runtime not ready: ${type}=false reason:${reason} message:${message}`,
        )
    : ['container runtime is down']
  const failures = [
    ...ofRuntime,
    ...networkProblems.map((problem) => `node network not ready: ${problem}`),
  ]
  return failures.length === 0
    ? {
        type: 'Ready',
        status: 'True',
        reason: 'KubeletReady',
        message: 'kubelet is posting ready status',
      }
    : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: failures.join(', ') }
}

function imagesOf(images: readonly Image[]): NonNullable<NodeStatus['images']> {
  return images
    .toSorted((one, other) => other.size - one.size)
    .slice(0, imagesMax)
    .map(({ repoDigests, repoTags, size }) => ({
      names: [...repoDigests, ...repoTags].slice(0, imageNamesMax),
      sizeBytes: size,
    }))
}

/**
 * Returns the labels of every node; those of the config are added. A node with a configured name has that
 * name as its hostname label instead of the machine's, so selecting a node by its name works with the label.
 */
export function nodeLabels(config: ResolvedConfig, arch: string): Record<string, string> {
  return {
    'kubernetes.io/hostname': config.nodeName,
    'kubernetes.io/arch': arch,
    'kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': 'linux',
    ...config.registration.labels,
  }
}

/** Returns the labels to restore on an existing node object, because a user removed or changed them. */
export function missingLabels(
  node: Node,
  labels: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter(([key, value]) => node.metadata.labels?.[key] !== value),
  )
}
