import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  Server,
  ServerCredentials,
  status,
  type handleUnaryCall,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js'
import type { PublishRequest, StageRequest } from '../csi/csi-driver.ts'
import { nodeService, registrationService } from '../csi/csi-schema-table.ts'
import { loadMethods } from '../cri/grpc-channel.ts'

export interface FakeCsiDriverOptions {
  name?: string
  capabilities?: readonly string[]
  /** The type of plugin in its registration. Default: CSIPlugin. */
  type?: string
  nodeId?: string
  topology?: Readonly<Record<string, string>>
  volumesMax?: number
  versions?: readonly string[]
}

type Answer = (request: never) => object | Promise<object>

/**
 * A CSI driver in this process, behind real sockets: it keeps books on what it has staged and published, and makes
 * directories and files in the place of mounts. It can fail, hang and lie. Its books outlive a restart, as a real
 * driver's storage does.
 */
export class FakeCsiDriver implements AsyncDisposable {
  readonly name: string
  /** The requests of what is staged and published now, by path. */
  readonly staged = new Map<string, StageRequest>()
  readonly published = new Map<string, PublishRequest>()
  /** The calls so far, as `Method` in order. */
  readonly calls: string[] = []
  /** The expansions so far, as `volume bytes`. */
  readonly expansions: string[] = []
  /** The answers to registrations: '' or the reason of a refusal. */
  readonly notices: string[] = []
  /** gRPC's status codes with which methods fail. */
  readonly failures = new Map<string, number>()
  /** Methods that never answer. */
  readonly hanging = new Set<string>()
  /** Makes the driver say that it has unpublished, and leave the volume where it is. */
  leavesTargets = false
  readonly #options: Required<FakeCsiDriverOptions>
  readonly #directory: string
  #servers: Server[] = []

  /** Starts a driver that registers in this kubelet's directory. */
  static async start(
    directory: string,
    options: FakeCsiDriverOptions = {},
  ): Promise<FakeCsiDriver> {
    const driver = new FakeCsiDriver(directory, options)
    await driver.start()
    return driver
  }

  private constructor(directory: string, options: FakeCsiDriverOptions) {
    this.#directory = directory
    this.#options = {
      name: 'fake.csi.example.com',
      capabilities: ['STAGE_UNSTAGE_VOLUME'],
      type: 'CSIPlugin',
      nodeId: 'node-at-the-driver',
      topology: {},
      volumesMax: 0,
      versions: ['1.0.0'],
      ...options,
    }
    this.name = this.#options.name
  }

  get registrationSocket(): string {
    return join(this.#directory, 'plugins_registry', `${this.name}-reg.sock`)
  }

  async start(): Promise<void> {
    const endpoint = join(this.#directory, 'plugins', this.name, 'csi.sock')
    const info = {
      type: this.#options.type,
      name: this.name,
      endpoint,
      supportedVersions: [...this.#options.versions],
    }
    await this.#serve(endpoint, nodeService, this.#nodeAnswers())
    await this.#serve(this.registrationSocket, registrationService, {
      GetInfo: () => info,
      NotifyRegistrationStatus: ({ error }: { error: string }) => {
        this.notices.push(error)
        return {}
      },
    })
  }

  /** Ends the program, and takes its registration away. */
  async stop(): Promise<void> {
    for (const server of this.#servers) server.forceShutdown()
    this.#servers = []
    await rm(this.registrationSocket, { force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #nodeAnswers(): Record<string, Answer> {
    const { nodeId, topology, volumesMax, capabilities } = this.#options
    return {
      NodeGetInfo: () => ({
        nodeId,
        maxVolumesPerNode: volumesMax,
        accessibleTopology: { segments: topology },
      }),
      NodeGetCapabilities: () => ({
        capabilities: capabilities.map((type) => ({ rpc: { type } })),
      }),
      NodeStageVolume: (request: StageRequest) => {
        this.staged.set(request.stagingTargetPath, request)
        return {}
      },
      NodeUnstageVolume: ({ stagingTargetPath }: StageRequest) => {
        this.staged.delete(stagingTargetPath)
        return {}
      },
      NodePublishVolume: async (request: PublishRequest) => {
        this.published.set(request.targetPath, request)
        if (request.volumeCapability.block) await writeFile(request.targetPath, '')
        else await mkdir(request.targetPath, { recursive: true })
        return {}
      },
      NodeUnpublishVolume: async ({ targetPath }: PublishRequest) => {
        if (this.leavesTargets) return {}
        const known = this.published.get(targetPath)
        this.published.delete(targetPath)
        if (known?.volumeCapability.block) await rm(targetPath, { force: true })
        else await rmdir(targetPath).catch(() => undefined)
        return {}
      },
      NodeExpandVolume: (request: {
        volumeId: string
        capacityRange: { requiredBytes: number }
      }) => {
        const { requiredBytes } = request.capacityRange
        this.expansions.push(`${request.volumeId} ${requiredBytes}`)
        return { capacityBytes: requiredBytes }
      },
      NodeGetVolumeStats: () => ({
        usage: [
          { available: 60, total: 100, used: 40, unit: 'BYTES' },
          { available: 9, total: 10, used: 1, unit: 'INODES' },
        ],
      }),
    }
  }

  async #serve(
    socket: string,
    shape: typeof nodeService,
    answers: Readonly<Record<string, Answer>>,
  ): Promise<void> {
    await mkdir(dirname(socket), { recursive: true })
    await rm(socket, { force: true })
    const server = new Server()
    const methods = loadMethods(shape)
    const handlers = Object.keys(methods).map(
      (name) => [name, this.#handler(name, answers[name])] as const,
    )
    server.addService(methods, Object.fromEntries(handlers))
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      )
    })
    this.#servers.push(server)
  }

  #handler(name: string, answer: Answer | undefined): handleUnaryCall<object, object> {
    return (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) => {
      this.calls.push(name)
      if (this.hanging.has(name)) return
      const code = this.failures.get(name) ?? (answer ? undefined : status.UNIMPLEMENTED)
      if (code !== undefined) return callback({ code, details: `${name} fails here` })
      // The schema table defines each method's request, and each answer above takes it.
      const request = call.request as never
      Promise.resolve(answer?.(request)).then(
        (value) => callback(null, value ?? {}),
        (error: unknown) => callback({ code: status.INTERNAL, details: String(error) }),
      )
    }
  }
}
