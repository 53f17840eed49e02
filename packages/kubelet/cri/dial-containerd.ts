import { releaseCoveredNamespace } from '../mounts/detach-mounts.ts'
import {
  RuntimeError,
  type Container,
  type ContainerRuntime,
  type ContainerStats,
  type ContainerStatus,
  type ExecSyncResponse,
  type FilesystemUsage,
  type Image,
  type InterfaceTraffic,
  type PodSandbox,
  type PodSandboxStatus,
  type RuntimeCondition,
  type RuntimeVersion,
  type SandboxTraffic,
  type TaskExit,
} from './container-runtime.ts'
import {
  containersMessages,
  containersServiceMethods,
  criEnums,
  criMessages,
  eventMessages,
  eventServiceMethods,
  imageServiceMethods,
  runtimeServiceMethods,
} from './cri-schema-table.ts'
import { GrpcChannel, loadMethods, type Methods } from './grpc-channel.ts'
import { dialDefaults } from '../limits-table.ts'

export interface DialOptions {
  /** The timeout of calls without their own (kubelet's runtimeRequestTimeout). */
  requestTimeoutMs?: number
}

/** The connection is made by the first call and made again after containerd was restarted. */
export function dialContainerd(socketPath: string, options: DialOptions = {}): ContainerRuntime {
  const { requestTimeoutMs } = { ...dialDefaults, ...options }
  const channel = new GrpcChannel(`unix:${socketPath}`)
  const cri = { package: 'runtime.v1', messages: criMessages, enums: criEnums }
  const runtime = caller(
    channel,
    loadMethods({ ...cri, service: 'RuntimeService', methods: runtimeServiceMethods }),
    requestTimeoutMs,
  )
  const images = caller(
    channel,
    loadMethods({ ...cri, service: 'ImageService', methods: imageServiceMethods }),
    requestTimeoutMs,
  )
  return {
    ...sandboxCalls(runtime),
    ...namespaceCalls(channel, requestTimeoutMs),
    ...containerCalls(runtime, requestTimeoutMs),
    ...streamingCalls(runtime),
    ...imageCalls(images),
    watchExits: exitWatcher(channel),
    async [Symbol.asyncDispose]() {
      channel[Symbol.dispose]()
    },
  }
}

interface Call {
  method: string
  request?: object
  /** Overrides the default; 0 means none. */
  timeoutMs?: number
}

/** The answer has the shape that the schema table gives the method's response. */
type Caller = <Answer>(call: Call, signal: AbortSignal) => Promise<Answer>

function caller(channel: GrpcChannel, methods: Methods, defaultTimeoutMs: number): Caller {
  return async <Answer>(call: Call, signal: AbortSignal): Promise<Answer> => {
    const method = methods[call.method]
    if (!method) throw new RangeError(`Cannot call ${call.method}: not in the schema table`)
    const timeoutMs = call.timeoutMs ?? defaultTimeoutMs
    const answer = await channel.unary(method, call.request ?? {}, { timeoutMs }, signal)
    // The schema table decoded it with defaults filled in, and the caller names that message's type.
    return answer as Answer
  }
}

type SandboxCalls = Pick<
  ContainerRuntime,
  | 'version'
  | 'conditions'
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandboxes'
>

type NamespaceCalls = Pick<ContainerRuntime, 'releaseSandboxNetwork'>

interface WireSandboxStatus extends PodSandbox {
  network?: { ip: string; additionalIps: { ip: string }[] }
}

function sandboxCalls(call: Caller): SandboxCalls {
  return {
    version: (signal) => call<RuntimeVersion>({ method: 'Version' }, signal),
    async conditions(signal) {
      const answer = await call<{ status?: { conditions: RuntimeCondition[] } }>(
        { method: 'Status' },
        signal,
      )
      return answer.status?.conditions ?? []
    },
    async runPodSandbox(config, runtimeHandler, signal) {
      const request = { config, runtimeHandler }
      // This takes twice the usual time, because the network plugin may wait for others.
      const answer = await call<{ podSandboxId: string }>(
        { method: 'RunPodSandbox', request, timeoutMs: 2 * dialDefaults.requestTimeoutMs },
        signal,
      )
      return answer.podSandboxId
    },
    async stopPodSandbox(podSandboxId, signal) {
      await call({ method: 'StopPodSandbox', request: { podSandboxId } }, signal)
    },
    async removePodSandbox(podSandboxId, signal) {
      await call({ method: 'RemovePodSandbox', request: { podSandboxId } }, signal)
    },
    async podSandboxStatus(podSandboxId, signal) {
      const answer = await call<{ status?: WireSandboxStatus; info: Record<string, string> }>(
        { method: 'PodSandboxStatus', request: { podSandboxId, verbose: true } },
        signal,
      )
      const status = required(answer.status, 'PodSandboxStatus')
      return toSandboxStatus(status, hostLinkIn(answer.info['info']))
    },
    async listPodSandboxes(signal) {
      const answer = await call<{ items: PodSandbox[] }>({ method: 'ListPodSandbox' }, signal)
      return answer.items
    },
  }
}

function toSandboxStatus(wire: WireSandboxStatus, hostLink: string): PodSandboxStatus {
  const { network, ...rest } = wire
  const ips = [network?.ip ?? '', ...(network?.additionalIps ?? []).map(({ ip }) => ip)]
  return { ...rest, ips: ips.filter((ip) => ip !== ''), hostLink }
}

/**
 * Finds the node's end of the link. Network plugins list each interface that they made, with its sandbox. The
 * node's end of a bridge's link is in no sandbox, and neither is the bridge, which the pod's other links
 * share.
 */
function hostLinkIn(info: string | undefined): string {
  const { cniResult } = JSON.parse(info ?? '{}') as VerboseInfo // fields are tested below
  const interfaces = Object.entries(cniResult?.Interfaces ?? {})
  const [link] = interfaces.find(([name, { Sandbox }]) => !Sandbox && name.startsWith('veth')) ?? []
  return link ?? ''
}

/** The part of a verbose status that containerd adds, in the words of its CNI library. */
interface VerboseInfo {
  cniResult?: { Interfaces?: Record<string, { Sandbox?: string }> } | null
}

interface WireContainer {
  container?: { spec?: { value: Uint8Array } | null } | null
}

/**
 * Reads sandbox specs from containerd's own records, because CRI returns nothing about a sandbox that it
 * cannot inspect.
 */
function namespaceCalls(channel: GrpcChannel, timeoutMs: number): NamespaceCalls {
  const methods = loadMethods({
    package: 'containerd.services.containers.v1',
    service: 'Containers',
    methods: containersServiceMethods,
    messages: containersMessages,
    enums: {},
  })
  const get = methods['Get']
  if (!get) throw new RangeError('Cannot read containers: Get is not in the schema table')
  const metadata = { 'containerd-namespace': 'k8s.io' }
  return {
    async releaseSandboxNetwork(id, signal) {
      const answer = await channel.unary(get, { id }, { timeoutMs, metadata }, signal)
      // The schema table decoded it.
      const { container } = answer as WireContainer
      const file = namespaceFileIn(Buffer.from(container?.spec?.value ?? []).toString('utf8'))
      return file !== undefined && releaseCoveredNamespace(file)
    },
  }
}

/** Reads the path from a sandbox's OCI runtime spec. */
function namespaceFileIn(spec: string): string | undefined {
  const { linux } = JSON.parse(spec === '' ? '{}' : spec) as OciSpec // fields are tested below
  return linux?.namespaces?.find(({ type }) => type === 'network')?.path
}

interface OciSpec {
  linux?: { namespaces?: { type: string; path?: string }[] }
}

type ContainerCalls = Pick<
  ContainerRuntime,
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'updateContainerResources'
  | 'reopenContainerLog'
  | 'containerStats'
  | 'listContainerStats'
  | 'listSandboxTraffic'
  | 'execSync'
>

function containerCalls(call: Caller, requestTimeoutMs: number): ContainerCalls {
  return {
    async createContainer(request, signal) {
      const answer = await call<{ containerId: string }>(
        { method: 'CreateContainer', request },
        signal,
      )
      return answer.containerId
    },
    async startContainer(containerId, signal) {
      await call({ method: 'StartContainer', request: { containerId } }, signal)
    },
    async stopContainer(containerId, timeoutSeconds, signal) {
      const request = { containerId, timeout: timeoutSeconds }
      const timeoutMs = requestTimeoutMs + timeoutSeconds * 1000
      await call({ method: 'StopContainer', request, timeoutMs }, signal)
    },
    async removeContainer(containerId, signal) {
      await call({ method: 'RemoveContainer', request: { containerId } }, signal)
    },
    async listContainers(signal) {
      const answer = await call<{ containers: Container[] }>({ method: 'ListContainers' }, signal)
      return answer.containers
    },
    async containerStatus(containerId, signal) {
      const answer = await call<{ status?: ContainerStatus }>(
        { method: 'ContainerStatus', request: { containerId } },
        signal,
      )
      return inOrder(required(answer.status, 'ContainerStatus'))
    },
    async updateContainerResources(containerId, linux, signal) {
      await call({ method: 'UpdateContainerResources', request: { containerId, linux } }, signal)
    },
    async reopenContainerLog(containerId, signal) {
      await call({ method: 'ReopenContainerLog', request: { containerId } }, signal)
    },
    async containerStats(containerId, signal) {
      const answer = await call<{ stats?: WireStats }>(
        { method: 'ContainerStats', request: { containerId } },
        signal,
      )
      return toStats(required(answer.stats, 'ContainerStats'))
    },
    async listContainerStats(signal) {
      const answer = await call<{ stats: WireStats[] }>({ method: 'ListContainerStats' }, signal)
      return answer.stats.map(toStats)
    },
    async listSandboxTraffic(signal) {
      const answer = await call<{ stats: WireSandboxStats[] }>(
        { method: 'ListPodSandboxStats' },
        signal,
      )
      return answer.stats.flatMap(toTraffic)
    },
    execSync({ containerId, cmd, timeoutSeconds }, signal) {
      const request = { containerId, cmd, timeout: timeoutSeconds }
      const timeoutMs = timeoutSeconds > 0 ? requestTimeoutMs + timeoutSeconds * 1000 : 0
      return call<ExecSyncResponse>({ method: 'ExecSync', request, timeoutMs }, signal)
    },
  }
}

type StreamingCalls = Pick<ContainerRuntime, 'exec' | 'attach' | 'portForward'>

function streamingCalls(call: Caller): StreamingCalls {
  const url = async (method: string, request: object, signal: AbortSignal): Promise<string> => {
    const answer = await call<{ url: string }>({ method, request }, signal)
    return answer.url
  }
  return {
    exec: (request, signal) => url('Exec', request, signal),
    attach: (request, signal) => url('Attach', request, signal),
    portForward: (podSandboxId, port, signal) => url('PortForward', { podSandboxId, port }, signal),
  }
}

type ImageCalls = Pick<
  ContainerRuntime,
  'listImages' | 'imageStatus' | 'pullImage' | 'removeImage' | 'imageFilesystems'
>

function imageCalls(call: Caller): ImageCalls {
  return {
    async listImages(signal) {
      const answer = await call<{ images: WireImage[] }>({ method: 'ListImages' }, signal)
      return answer.images.map(toImage)
    },
    async imageStatus(reference, signal) {
      const request = { image: { image: reference } }
      const answer = await call<{ image?: WireImage | null }>(
        { method: 'ImageStatus', request },
        signal,
      )
      return answer.image ? toImage(answer.image) : undefined
    },
    async pullImage(reference, auth, signal) {
      const request = { image: { image: reference }, ...(auth ? { auth } : {}) }
      const answer = await call<{ imageRef: string }>(
        { method: 'PullImage', request, timeoutMs: 0 },
        signal,
      )
      return answer.imageRef
    },
    async removeImage(reference, signal) {
      await call({ method: 'RemoveImage', request: { image: { image: reference } } }, signal)
    },
    async imageFilesystems(signal) {
      const answer = await call<{ imageFilesystems: WireFilesystem[] }>(
        { method: 'ImageFsInfo' },
        signal,
      )
      return answer.imageFilesystems.map(toFilesystem)
    },
  }
}

interface WireExit {
  event?: { value?: TaskExit & { id: string } }
}

/** Watches exits of containers. Exec processes exit on the same topic with their own id, and are ignored. */
function exitWatcher(channel: GrpcChannel): ContainerRuntime['watchExits'] {
  const methods = loadMethods({
    package: 'containerd.services.events.v1',
    service: 'Events',
    methods: eventServiceMethods,
    messages: eventMessages,
    enums: {},
  })
  const subscribe = methods['Subscribe']
  if (!subscribe) throw new RangeError('Cannot watch exits: Subscribe is not in the schema table')
  return async (onExit, signal) => {
    const onMessage = (message: object): void => {
      // The schema table decoded it: an Envelope that holds a TaskExit.
      const exit = (message as WireExit).event?.value
      if (exit && exit.id === exit.containerId) {
        onExit({ containerId: exit.containerId, exitStatus: exit.exitStatus })
      }
    }
    const request = { filters: ['topic=="/tasks/exit",namespace==k8s.io'] }
    const metadata = { 'containerd-namespace': 'k8s.io' }
    await channel.serverStream(subscribe, request, { timeoutMs: 0, metadata, onMessage }, signal)
    throw new RuntimeError('Unavailable', 'Cannot watch exits: containerd ended the stream')
  }
}

type Counted = { value: number } | null | undefined
interface WireFilesystem {
  timestamp: number
  fsId?: { mountpoint: string } | null
  usedBytes?: Counted
  inodesUsed?: Counted
}
interface WireStats {
  attributes?: Pick<ContainerStats, 'id' | 'metadata' | 'labels'>
  cpu?: { timestamp: number; usageCoreNanoSeconds?: Counted; usageNanoCores?: Counted } | null
  memory?: {
    timestamp: number
    workingSetBytes?: Counted
    availableBytes?: Counted
    usageBytes?: Counted
    rssBytes?: Counted
    pageFaults?: Counted
    majorPageFaults?: Counted
  } | null
  writableLayer?: WireFilesystem | null
}

function toFilesystem(wire: WireFilesystem): FilesystemUsage {
  return {
    timestamp: wire.timestamp,
    mountpoint: wire.fsId?.mountpoint ?? '',
    usedBytes: wire.usedBytes?.value ?? 0,
    inodesUsed: wire.inodesUsed?.value ?? 0,
  }
}

function toStats(wire: WireStats): ContainerStats {
  const { id, metadata, labels } = required(wire.attributes, 'ContainerStats')
  const stats: ContainerStats = { id, metadata, labels }
  if (wire.cpu) stats.cpu = { timestamp: wire.cpu.timestamp, ...counted(wire.cpu) }
  if (wire.memory) stats.memory = { timestamp: wire.memory.timestamp, ...counted(wire.memory) }
  if (wire.writableLayer) stats.writableLayer = toFilesystem(wire.writableLayer)
  return stats
}

interface WireSandboxStats {
  attributes?: { labels: Record<string, string> } | null
  linux?: { network?: WireNetwork | null } | null
}

interface WireNetwork {
  timestamp: number
  defaultInterface?: { name: string } | null
  interfaces: { name: string }[]
}

function toTraffic({ attributes, linux }: WireSandboxStats): SandboxTraffic[] {
  const network = linux?.network
  if (!attributes || !network) return []
  const { timestamp, defaultInterface, interfaces } = network
  const traffic = (one: { name: string }): InterfaceTraffic => ({ name: one.name, ...counted(one) })
  return [
    {
      labels: attributes.labels,
      timestamp,
      ...(defaultInterface ? { defaultInterface: traffic(defaultInterface) } : {}),
      interfaces: interfaces.map(traffic),
    },
  ]
}

/** Unwraps { value } figures; unmeasured ones stay undefined. */
function counted(figures: object): Record<string, number> {
  const out: Record<string, number> = {}
  for (const [key, figure] of Object.entries(figures)) {
    if (typeof figure === 'object' && figure !== null) out[key] = Number(figure.value)
  }
  return out
}

interface WireImage extends Omit<Image, 'uid'> {
  uid?: { value: number } | null
}

function toImage(wire: WireImage): Image {
  const { id, repoTags, repoDigests, size, username } = wire
  return { id, repoTags, repoDigests, size, username, uid: wire.uid?.value }
}

/** containerd writes down a start once the process runs, so a process that ends at once may end before its start. */
function inOrder(status: ContainerStatus): ContainerStatus {
  const { startedAt, finishedAt } = status
  if (finishedAt === 0 || finishedAt >= startedAt) return status
  return { ...status, finishedAt: startedAt }
}

function required<T>(part: T | null | undefined, name: string): T {
  if (part) return part
  throw new RuntimeError('Unknown', `Cannot read ${name}: the runtime's answer was empty`)
}
