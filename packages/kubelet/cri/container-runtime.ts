/**
 * The container runtime seam, in the words of Kubernetes' container runtime interface. Real
 * implementation: dial-containerd.ts. Fake for simulation: fake-runtime.ts. Every call takes a
 * signal; failures are RuntimeErrors, so that callers branch on a code and never on text.
 */
export interface ContainerRuntime extends AsyncDisposable {
  version(signal: AbortSignal): Promise<RuntimeVersion>
  conditions(signal: AbortSignal): Promise<RuntimeCondition[]>

  /** Resolves with the sandbox's id once its network is up. */
  runPodSandbox(config: PodSandboxConfig, handler: string, signal: AbortSignal): Promise<string>
  stopPodSandbox(id: string, signal: AbortSignal): Promise<void>
  removePodSandbox(id: string, signal: AbortSignal): Promise<void>
  podSandboxStatus(id: string, signal: AbortSignal): Promise<PodSandboxStatus>
  listPodSandboxes(signal: AbortSignal): Promise<PodSandbox[]>
  /**
   * Takes away a network namespace that the runtime itself cannot remove, because others' mounts cover
   * it; the sandbox can be stopped then. False: that is not what is in the way.
   */
  releaseSandboxNetwork(id: string, signal: AbortSignal): Promise<boolean>

  createContainer(request: CreateContainerRequest, signal: AbortSignal): Promise<string>
  startContainer(id: string, signal: AbortSignal): Promise<void>
  /** Sends the stop signal, waits `timeoutSeconds` and kills. Resolves when the process is gone. */
  stopContainer(id: string, timeoutSeconds: number, signal: AbortSignal): Promise<void>
  removeContainer(id: string, signal: AbortSignal): Promise<void>
  listContainers(signal: AbortSignal): Promise<Container[]>
  containerStatus(id: string, signal: AbortSignal): Promise<ContainerStatus>
  updateContainerResources(
    id: string,
    resources: LinuxContainerResources,
    signal: AbortSignal,
  ): Promise<void>
  reopenContainerLog(id: string, signal: AbortSignal): Promise<void>
  containerStats(id: string, signal: AbortSignal): Promise<ContainerStats>
  listContainerStats(signal: AbortSignal): Promise<ContainerStats[]>
  /** Resolves with the traffic of each sandbox that has a network of its own. */
  listSandboxTraffic(signal: AbortSignal): Promise<SandboxTraffic[]>

  /** Rejects with code DeadlineExceeded when the command outlives `timeoutSeconds` (0: no limit). */
  execSync(request: ExecSyncRequest, signal: AbortSignal): Promise<ExecSyncResponse>
  /** The three below resolve with the URL of the runtime's own streaming server. */
  exec(request: ExecRequest, signal: AbortSignal): Promise<string>
  attach(request: AttachRequest, signal: AbortSignal): Promise<string>
  portForward(podSandboxId: string, ports: readonly number[], signal: AbortSignal): Promise<string>

  listImages(signal: AbortSignal): Promise<Image[]>
  /** Resolves undefined if the node does not have the image. */
  imageStatus(reference: string, signal: AbortSignal): Promise<Image | undefined>
  /** Resolves with the image's id. */
  pullImage(reference: string, auth: RegistryAuth | undefined, signal: AbortSignal): Promise<string>
  removeImage(reference: string, signal: AbortSignal): Promise<void>
  imageFilesystems(signal: AbortSignal): Promise<FilesystemUsage[]>

  /**
   * Calls `onExit` for each task that ends during the subscription; rejects when it breaks. It is only a
   * hint: the next relist finds missed ends.
   */
  watchExits(onExit: (exit: TaskExit) => void, signal: AbortSignal): Promise<void>
}

export type RuntimeErrorCode =
  | 'InvalidArgument'
  | 'OutOfRange'
  | 'NotFound'
  | 'AlreadyExists'
  | 'DeadlineExceeded'
  | 'Unavailable'
  | 'Unimplemented'
  | 'Unknown'

export class RuntimeError extends Error {
  override name = 'RuntimeError'
  readonly code: RuntimeErrorCode

  constructor(code: RuntimeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export function isRuntimeError(error: unknown, code: RuntimeErrorCode): error is RuntimeError {
  return error instanceof RuntimeError && error.code === code
}

export interface RuntimeVersion {
  runtimeName: string
  runtimeVersion: string
}

export interface RuntimeCondition {
  /** RuntimeReady or NetworkReady. */
  type: string
  status: boolean
  reason: string
  message: string
}

export type NamespaceMode = 'POD' | 'CONTAINER' | 'NODE' | 'TARGET'

export interface NamespaceOption {
  network: NamespaceMode
  pid: NamespaceMode
  ipc: NamespaceMode
  targetId?: string
}

export interface SecurityProfile {
  profileType: 'RuntimeDefault' | 'Unconfined' | 'Localhost'
  localhostRef?: string
}

export interface SeLinuxOption {
  user?: string
  role?: string
  type?: string
  level?: string
}

export interface PodSandboxMetadata {
  name: string
  uid: string
  namespace: string
  attempt: number
}

export interface DnsConfig {
  servers: string[]
  searches: string[]
  options: string[]
}

export interface PortMapping {
  protocol: 'TCP' | 'UDP' | 'SCTP'
  containerPort: number
  hostPort: number
  hostIp: string
}

export interface PodSandboxConfig {
  metadata: PodSandboxMetadata
  /** The host name; empty for pods on the host's network, which keep the host's name. */
  hostname: string
  logDirectory: string
  dnsConfig?: DnsConfig
  portMappings: PortMapping[]
  labels: Record<string, string>
  annotations: Record<string, string>
  linux: {
    cgroupParent: string
    securityContext: {
      namespaceOptions: NamespaceOption
      selinuxOptions?: SeLinuxOption
      runAsUser?: { value: number }
      runAsGroup?: { value: number }
      supplementalGroups?: number[]
      privileged: boolean
      seccomp?: SecurityProfile
    }
    sysctls: Record<string, string>
    overhead?: LinuxContainerResources
    resources?: LinuxContainerResources
  }
}

export interface PodSandbox {
  id: string
  metadata: PodSandboxMetadata
  state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY'
  /** Nanoseconds since the Unix epoch, as a double: exact to a microsecond. */
  createdAt: number
  labels: Record<string, string>
  annotations: Record<string, string>
  runtimeHandler: string
}

export interface PodSandboxStatus extends PodSandbox {
  /** The addresses; empty on the host's network, before the network is up, and once it is gone. */
  ips: string[]
  /** The node's end of the pod's virtual link; empty if the runtime does not report it. */
  hostLink: string
}

export interface Mount {
  containerPath: string
  hostPath: string
  readonly: boolean
  propagation: 'PROPAGATION_PRIVATE' | 'PROPAGATION_HOST_TO_CONTAINER' | 'PROPAGATION_BIDIRECTIONAL'
  selinuxRelabel?: boolean
  /** The image whose files are mounted; hostPath is empty then. */
  image?: { image: string }
  imageSubPath?: string
}

export interface LinuxContainerResources {
  cpuPeriod?: number
  cpuQuota?: number
  cpuShares?: number
  memoryLimitInBytes?: number
  oomScoreAdj?: number
  unified?: Record<string, string>
}

export interface LinuxContainerSecurityContext {
  capabilities?: { addCapabilities: string[]; dropCapabilities: string[] }
  privileged: boolean
  namespaceOptions: NamespaceOption
  selinuxOptions?: SeLinuxOption
  runAsUser?: { value: number }
  runAsGroup?: { value: number }
  runAsUsername?: string
  readonlyRootfs: boolean
  supplementalGroups: number[]
  noNewPrivs: boolean
  maskedPaths: string[]
  readonlyPaths: string[]
  seccomp?: SecurityProfile
  apparmor?: SecurityProfile
}

export interface ContainerMetadata {
  name: string
  attempt: number
}

export interface ContainerConfig {
  metadata: ContainerMetadata
  image: { image: string }
  command: string[]
  args: string[]
  workingDir: string
  envs: { key: string; value: string }[]
  mounts: Mount[]
  devices: { containerPath: string; hostPath: string; permissions: string }[]
  /** Names of devices that files on the node describe (CDI). containerd 1.6 does not know them. */
  cdiDevices: { name: string }[]
  labels: Record<string, string>
  annotations: Record<string, string>
  /** The path relative to the sandbox's logDirectory. */
  logPath: string
  stdin: boolean
  stdinOnce: boolean
  tty: boolean
  linux: {
    resources: LinuxContainerResources
    securityContext: LinuxContainerSecurityContext
  }
}

export interface CreateContainerRequest {
  podSandboxId: string
  config: ContainerConfig
  sandboxConfig: PodSandboxConfig
}

export type ContainerState =
  | 'CONTAINER_CREATED'
  | 'CONTAINER_RUNNING'
  | 'CONTAINER_EXITED'
  | 'CONTAINER_UNKNOWN'

export interface Container {
  id: string
  podSandboxId: string
  metadata: ContainerMetadata
  image: { image: string }
  imageRef: string
  state: ContainerState
  createdAt: number
  labels: Record<string, string>
  annotations: Record<string, string>
}

export interface ContainerStatus {
  id: string
  metadata: ContainerMetadata
  state: ContainerState
  /** Nanoseconds since the Unix epoch; 0 if it has not happened. */
  createdAt: number
  startedAt: number
  finishedAt: number
  exitCode: number
  image: { image: string }
  imageRef: string
  reason: string
  message: string
  labels: Record<string, string>
  annotations: Record<string, string>
  mounts: Mount[]
  logPath: string
}

export interface ExecSyncRequest {
  containerId: string
  cmd: readonly string[]
  timeoutSeconds: number
}

export interface ExecSyncResponse {
  stdout: Uint8Array
  stderr: Uint8Array
  exitCode: number
}

export interface StreamFlags {
  tty: boolean
  stdin: boolean
  stdout: boolean
  stderr: boolean
}

export interface ExecRequest extends StreamFlags {
  containerId: string
  cmd: readonly string[]
}

export interface AttachRequest extends StreamFlags {
  containerId: string
}

export interface FilesystemUsage {
  timestamp: number
  mountpoint: string
  usedBytes: number
  inodesUsed: number
}

/** The statistics of a container; undefined ones were not measured. Times are in nanoseconds. */
export interface SandboxTraffic {
  labels: Record<string, string>
  /** Nanoseconds since the Unix epoch. */
  timestamp: number
  defaultInterface?: InterfaceTraffic
  /** The other interfaces. */
  interfaces: InterfaceTraffic[]
}

export interface InterfaceTraffic {
  name: string
  rxBytes?: number
  rxErrors?: number
  txBytes?: number
  txErrors?: number
}

export interface ContainerStats {
  id: string
  metadata: ContainerMetadata
  labels: Record<string, string>
  cpu?: { timestamp: number; usageCoreNanoSeconds?: number; usageNanoCores?: number }
  memory?: {
    timestamp: number
    workingSetBytes?: number
    availableBytes?: number
    usageBytes?: number
    rssBytes?: number
    pageFaults?: number
    majorPageFaults?: number
  }
  writableLayer?: FilesystemUsage
}

export interface Image {
  /** The sha256:… of the image's config. */
  id: string
  repoTags: string[]
  repoDigests: string[]
  size: number
  /** The user the image asks for, as a number … */
  uid: number | undefined
  /** … or as a name. Empty if neither was given, which means root. */
  username: string
}

export interface RegistryAuth {
  username?: string
  password?: string
  auth?: string
  serverAddress?: string
  identityToken?: string
  registryToken?: string
}

export interface TaskExit {
  /** The container's or, for the pause process, the sandbox's id. */
  containerId: string
  exitStatus: number
}
