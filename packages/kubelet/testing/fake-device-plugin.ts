import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js'
import { loadMethods } from '../cri/grpc-channel.ts'
import { devicePlugin, deviceRegistration } from '../devices/device-schema-table.ts'
import type { PluginDevice } from '../devices/device-plugin.ts'

export interface FakePluginOptions {
  readonly resource?: string
  readonly version?: string
  readonly endpoint?: string
  readonly preStartRequired?: boolean
  /** The devices that it prefers, in order. If omitted, it has no preference. */
  readonly prefers?: readonly string[]
}

interface DeviceIds {
  readonly containerRequests: readonly { readonly deviceIds: readonly string[] }[]
}

/** A device plugin in this process, behind real sockets: it can change its devices, fail, lie and go. */
export class FakeDevicePlugin implements AsyncDisposable {
  /** The calls so far, as `Method ids`. */
  readonly calls: string[] = []
  /** True: calls of Allocate fail. */
  isBroken = false
  /** The devices that it claims to prefer, whatever it was offered. */
  lies: readonly string[] | undefined
  readonly #directory: string
  readonly #options: FakePluginOptions
  #devices: readonly PluginDevice[]
  #server: Server | undefined
  readonly #watchers = new Set<ServerWritableStream<object, object>>()

  /** Starts a plugin that registers in this kubelet's directory. */
  static async start(
    directory: string,
    devices: readonly string[],
    options: FakePluginOptions = {},
  ): Promise<FakeDevicePlugin> {
    const plugin = new FakeDevicePlugin(directory, devices, options)
    try {
      await plugin.start()
    } catch (error) {
      await plugin[Symbol.asyncDispose]()
      throw error
    }
    return plugin
  }

  private constructor(directory: string, devices: readonly string[], options: FakePluginOptions) {
    this.#directory = join(directory, 'device-plugins')
    this.#options = options
    this.#devices = devices.map((id) => ({ id, health: 'Healthy' }))
  }

  /** Serves and registers; the kubelet must serve its socket. */
  async start(): Promise<void> {
    const { endpoint = 'fake.sock' } = this.#options
    const path = join(this.#directory, endpoint)
    await mkdir(dirname(path), { recursive: true })
    await rm(path, { force: true })
    const server = new Server()
    server.addService(loadMethods(devicePlugin), this.#answers())
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      )
    })
    this.#server = server
    await this.register()
  }

  /** Rejects with the node's refusal. */
  async register(): Promise<void> {
    const {
      resource = 'example.com/dial',
      version = 'v1beta1',
      endpoint = 'fake.sock',
    } = this.#options
    const { preStartRequired = false, prefers } = this.#options
    const options = { preStartRequired, getPreferredAllocationAvailable: prefers !== undefined }
    const client = new Client(
      `unix:${join(this.#directory, 'kubelet.sock')}`,
      credentials.createInsecure(),
    )
    const method = loadMethods(deviceRegistration)['Register']
    if (!method) throw new RangeError('there is no method Register')
    try {
      await new Promise<void>((resolve, reject) => {
        client.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          { version, endpoint, resourceName: resource, options },
          (error) => (error ? reject(new Error(error.details)) : resolve()),
        )
      })
    } finally {
      client.close()
    }
  }

  setDevices(devices: readonly PluginDevice[]): void {
    this.#devices = devices
    for (const watcher of this.#watchers) watcher.write({ devices })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { endpoint = 'fake.sock' } = this.#options
    this.#server?.forceShutdown()
    this.#server = undefined
    await rm(join(this.#directory, endpoint), { force: true })
  }

  #answers() {
    return {
      GetDevicePluginOptions: (_call: object, answer: sendUnaryData<object>) => answer(null, {}),
      ListAndWatch: async (call: ServerWritableStream<object, object>) => {
        this.#watchers.add(call)
        call.write({ devices: this.#devices })
        await once(call, 'cancelled').catch(() => undefined)
        this.#watchers.delete(call)
        call.end()
      },
      GetPreferredAllocation: (
        {
          request,
        }: ServerUnaryCall<
          { containerRequests: { available: string[]; allocationSize: number }[] },
          object
        >,
        answer: sendUnaryData<object>,
      ) => {
        const [asked] = request.containerRequests
        const wanted = (this.#options.prefers ?? []).filter((id) => asked?.available.includes(id))
        const deviceIds = this.lies ?? wanted.slice(0, asked?.allocationSize)
        answer(null, { containerResponses: [{ deviceIds }] })
      },
      Allocate: (
        { request }: ServerUnaryCall<DeviceIds, object>,
        answer: sendUnaryData<object>,
      ) => {
        const ids = request.containerRequests[0]?.deviceIds ?? []
        this.calls.push(`Allocate ${ids.join(',')}`)
        if (this.isBroken) return answer({ code: status.INTERNAL, details: 'the device is stuck' })
        const devices = ids.map((id) => ({
          containerPath: `/dev/${id}`,
          hostPath: `/dev/${id}`,
          permissions: 'rw',
        }))
        const envs = { DIALS: ids.join(',') }
        answer(null, { containerResponses: [{ envs, devices }] })
      },
      PreStartContainer: (
        { request }: ServerUnaryCall<{ deviceIds: string[] }, object>,
        answer: sendUnaryData<object>,
      ) => {
        this.calls.push(`PreStart ${request.deviceIds.join(',')}`)
        answer(null, {})
      },
    }
  }
}
