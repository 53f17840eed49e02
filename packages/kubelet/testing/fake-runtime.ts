import type { Clock } from '@skerry/base'
import {
  RuntimeError,
  type Container,
  type ContainerConfig,
  type ContainerRuntime,
  type ContainerStatus,
  type Image,
  type PodSandbox,
  type PodSandboxConfig,
  type TaskExit,
} from '../cri/container-runtime.ts'

/** Decides what a container does once started; undefined lets it run until it is stopped. */
export type Program = (config: ContainerConfig) => { afterMs: number; exitCode: number } | undefined

interface FakeContainer {
  id: string
  podSandboxId: string
  config: ContainerConfig
  state: Container['state']
  createdAt: number
  startedAt: number
  finishedAt: number
  exitCode: number
}

interface FakeSandbox extends PodSandbox {
  config: PodSandboxConfig
  ip: string
  /** True if another program has mounted over its network namespace. */
  isCovered: boolean
  /** The number of inspections that fail. */
  hiddenTimes: number
}

export interface FakeRuntimeOptions {
  clock: Clock
  program?: Program
  images?: readonly string[]
}

/** A runtime in memory whose containers end when the test decides. It survives a "crash" of the agent. */
export class FakeRuntime implements ContainerRuntime {
  readonly #clock: Clock
  readonly #program: Program
  readonly #images: Set<string>
  readonly #sandboxes = new Map<string, FakeSandbox>()
  readonly #containers = new Map<string, FakeContainer>()
  readonly #listeners = new Set<(exit: TaskExit) => void>()
  #nextId = 1
  #isDown = false
  /** Starts so far, by pod and container name: `pod/container`. */
  readonly starts = new Map<string, number>()

  constructor({ clock, program, images = [] }: FakeRuntimeOptions) {
    this.#clock = clock
    this.#program = program ?? (() => undefined)
    this.#images = new Set(images)
  }

  /** Ends a running container as if its process had exited. */
  exit(pod: string, container: string, exitCode: number): void {
    const found = [...this.#containers.values()].find(
      (one) => one.state === 'CONTAINER_RUNNING' && nameOf(one) === `${pod}/${container}`,
    )
    if (!found) throw new RangeError(`Cannot end ${pod}/${container}: it does not run`)
    this.#end(found, exitCode)
  }

  /** Simulates a power cut: every process is gone, but the runtime's records are not. */
  reboot(): void {
    for (const container of this.#containers.values()) {
      if (container.state === 'CONTAINER_RUNNING') this.#end(container, 255)
    }
    for (const sandbox of this.#sandboxes.values()) sandbox.state = 'SANDBOX_NOTREADY'
  }

  /** Covers all network namespaces, as the first `ip netns add` does. */
  coverNetworks(): void {
    for (const sandbox of this.#sandboxes.values()) sandbox.isCovered = true
  }

  /** The process that holds the pod's namespaces is killed. */
  endSandbox(pod: string): void {
    for (const sandbox of this.#sandboxes.values()) {
      if (sandbox.metadata.name === pod) sandbox.state = 'SANDBOX_NOTREADY'
    }
  }

  /** The next inspections of the pod's sandbox fail. */
  hide(pod: string, times: number): void {
    for (const sandbox of this.#sandboxes.values()) {
      if (sandbox.metadata.name === pod) sandbox.hiddenTimes = times
    }
  }

  /** The names of sandboxes as `pod/attempt`. */
  sandboxes(): string[] {
    return [...this.#sandboxes.values()]
      .map(({ metadata }) => `${metadata.name}/${metadata.attempt}`)
      .toSorted()
  }

  /** While it is down every call fails; containers keep running. */
  setDown(isDown: boolean): void {
    this.#isDown = isDown
  }

  /** Returns `pod/container` of everything that runs. */
  running(): string[] {
    return [...this.#containers.values()]
      .filter(({ state }) => state === 'CONTAINER_RUNNING')
      .map(nameOf)
      .toSorted()
  }

  /** The number of sandboxes and containers that the runtime still has. */
  get size(): number {
    return this.#sandboxes.size + this.#containers.size
  }

  async version() {
    return { runtimeName: 'fake', runtimeVersion: '1' }
  }

  async conditions() {
    this.#answer()
    return ['RuntimeReady', 'NetworkReady'].map((type) => ({
      type,
      status: true,
      reason: '',
      message: '',
    }))
  }

  async runPodSandbox(config: PodSandboxConfig): Promise<string> {
    this.#answer()
    const id = this.#id('s')
    const { metadata, labels, annotations } = config
    this.#sandboxes.set(id, {
      id,
      config,
      metadata,
      labels,
      annotations,
      state: 'SANDBOX_READY',
      createdAt: this.#nowNs(),
      runtimeHandler: '',
      ip: `10.0.0.${this.#nextId}`,
      isCovered: false,
      hiddenTimes: 0,
    })
    return id
  }

  async stopPodSandbox(id: string): Promise<void> {
    this.#answer()
    const sandbox = this.#sandbox(id)
    for (const container of this.#containers.values()) {
      if (container.podSandboxId === id && container.state === 'CONTAINER_RUNNING') {
        this.#end(container, 137)
      }
    }
    sandbox.state = 'SANDBOX_NOTREADY'
    this.#failIfCovered(sandbox)
  }

  async releaseSandboxNetwork(id: string): Promise<boolean> {
    this.#answer()
    const sandbox = this.#sandbox(id)
    const wasCovered = sandbox.isCovered
    sandbox.isCovered = false
    return wasCovered
  }

  async removePodSandbox(id: string): Promise<void> {
    if (!this.#sandboxes.has(id)) return this.#answer()
    await this.stopPodSandbox(id)
    this.#sandboxes.delete(id)
    for (const [key, { podSandboxId }] of this.#containers) {
      if (podSandboxId === id) this.#containers.delete(key)
    }
  }

  async podSandboxStatus(id: string) {
    this.#answer()
    const known = this.#sandbox(id)
    const { ip, ...sandbox } = known
    if (known.hiddenTimes > 0) {
      known.hiddenTimes -= 1
      throw new RuntimeError('Unknown', 'cannot inspect')
    }
    if (sandbox.state === 'SANDBOX_NOTREADY') this.#failIfCovered(known)
    return { ...sandbox, ips: [ip], hostLink: '' }
  }

  async listPodSandboxes(): Promise<PodSandbox[]> {
    this.#answer()
    return [...this.#sandboxes.values()].map((sandbox) => ({ ...sandbox }))
  }

  async createContainer(request: {
    podSandboxId: string
    config: ContainerConfig
  }): Promise<string> {
    this.#answer()
    this.#sandbox(request.podSandboxId)
    const id = this.#id('c')
    this.#containers.set(id, {
      ...request,
      id,
      state: 'CONTAINER_CREATED',
      createdAt: this.#nowNs(),
      startedAt: 0,
      finishedAt: 0,
      exitCode: 0,
    })
    return id
  }

  async startContainer(id: string): Promise<void> {
    this.#answer()
    const container = this.#container(id)
    if (container.state !== 'CONTAINER_CREATED') {
      throw new RuntimeError('Unknown', `container ${id} is in state ${container.state}`)
    }
    container.state = 'CONTAINER_RUNNING'
    container.startedAt = this.#nowNs()
    const name = nameOf(container)
    this.starts.set(name, (this.starts.get(name) ?? 0) + 1)
    const end = this.#program(container.config)
    if (end) this.#clock.setTimer(end.afterMs, () => this.#end(container, end.exitCode))
  }

  async stopContainer(id: string): Promise<void> {
    this.#answer()
    const container = this.#container(id)
    if (container.state === 'CONTAINER_RUNNING') this.#end(container, 143)
  }

  async removeContainer(id: string): Promise<void> {
    this.#answer()
    this.#containers.delete(id)
  }

  async listContainers(): Promise<Container[]> {
    this.#answer()
    return [...this.#containers.values()].map((container) => ({
      id: container.id,
      podSandboxId: container.podSandboxId,
      metadata: container.config.metadata,
      image: container.config.image,
      imageRef: container.config.image.image,
      state: container.state,
      createdAt: container.createdAt,
      labels: container.config.labels,
      annotations: container.config.annotations,
    }))
  }

  async containerStatus(id: string): Promise<ContainerStatus> {
    this.#answer()
    const { config, ...container } = this.#container(id)
    const isOver = container.state === 'CONTAINER_EXITED'
    const reason = container.exitCode === 0 ? 'Completed' : 'Error'
    return {
      ...container,
      metadata: config.metadata,
      image: config.image,
      imageRef: config.image.image,
      reason: isOver ? reason : '',
      message: '',
      labels: config.labels,
      annotations: config.annotations,
      mounts: config.mounts,
      logPath: '',
    }
  }

  async updateContainerResources(): Promise<void> {}
  async reopenContainerLog(): Promise<void> {}

  async containerStats(id: string) {
    const { config } = this.#container(id)
    return { id, metadata: config.metadata, labels: config.labels }
  }

  async listContainerStats() {
    return []
  }

  async listSandboxTraffic() {
    return []
  }

  async execSync() {
    this.#answer()
    return { stdout: new Uint8Array(), stderr: new Uint8Array(), exitCode: 0 }
  }

  exec(): Promise<string> {
    return Promise.reject(new RuntimeError('Unimplemented', 'no streams here'))
  }

  attach(): Promise<string> {
    return this.exec()
  }

  portForward(): Promise<string> {
    return this.exec()
  }

  async listImages(): Promise<Image[]> {
    return [...this.#images].map(imageOf)
  }

  async imageStatus(reference: string): Promise<Image | undefined> {
    this.#answer()
    return this.#images.has(reference) ? imageOf(reference) : undefined
  }

  async pullImage(reference: string): Promise<string> {
    throw new RuntimeError('Unknown', `no registry has ${reference}`)
  }

  /** Adds an image, as an import would. */
  addImage(reference: string): void {
    this.#images.add(reference)
  }

  async removeImage(reference: string): Promise<void> {
    this.#images.delete(reference)
  }

  async imageFilesystems() {
    return []
  }

  watchExits(onExit: (exit: TaskExit) => void, signal: AbortSignal): Promise<void> {
    this.#listeners.add(onExit)
    return new Promise((_, reject) => {
      const onAbort = (): void => {
        this.#listeners.delete(onExit)
        reject(signal.reason)
      }
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #answer(): void {
    if (this.#isDown) throw new RuntimeError('Unavailable', 'the runtime is down')
  }

  /** Fails as containerd does once it has unmounted the upper one of the two. */
  #failIfCovered({ isCovered }: FakeSandbox): void {
    if (!isCovered) return
    throw new RuntimeError('Unknown', 'remove netns: device or resource busy')
  }

  #end(container: FakeContainer, exitCode: number): void {
    if (container.state !== 'CONTAINER_RUNNING') return
    container.state = 'CONTAINER_EXITED'
    container.exitCode = exitCode
    container.finishedAt = this.#nowNs()
    for (const listener of this.#listeners)
      listener({ containerId: container.id, exitStatus: exitCode })
  }

  #id(prefix: string): string {
    return `${prefix}${this.#nextId++}`
  }

  /** Two things made at the same moment still have an order. */
  #nowNs(): number {
    return this.#clock.now() * 1e6 + this.#nextId * 1e3
  }

  #sandbox(id: string): FakeSandbox {
    const found = this.#sandboxes.get(id)
    if (!found) throw new RuntimeError('NotFound', `no sandbox ${id}`)
    return found
  }

  #container(id: string): FakeContainer {
    const found = this.#containers.get(id)
    if (!found) throw new RuntimeError('NotFound', `no container ${id}`)
    return found
  }
}

function nameOf({ config }: FakeContainer): string {
  return `${config.labels['io.kubernetes.pod.name']}/${config.metadata.name}`
}

function imageOf(reference: string): Image {
  return {
    id: reference,
    repoTags: [reference],
    repoDigests: [],
    size: 1,
    uid: undefined,
    username: '',
  }
}
