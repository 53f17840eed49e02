import { GrpcChannel, loadMethods, pluginCaller } from '../cri/grpc-channel.ts'
import { deviceDefaults, kubeletBounds } from '../limits-table.ts'
import { devicePlugin } from './device-schema-table.ts'

const { messageBytesMax } = kubeletBounds.devices
const { callTimeoutMs, probeTimeoutMs } = deviceDefaults

export interface PluginOptions {
  readonly preStartRequired: boolean
  readonly getPreferredAllocationAvailable: boolean
}

export interface PluginDevice {
  readonly id: string
  /** `Healthy`, or anything else. */
  readonly health: string
}

/** The parts of a container that give it its devices. */
export interface ContainerDevices {
  readonly envs: Readonly<Record<string, string>>
  readonly mounts: readonly {
    readonly containerPath: string
    readonly hostPath: string
    readonly readOnly: boolean
  }[]
  readonly devices: readonly {
    readonly containerPath: string
    readonly hostPath: string
    readonly permissions: string
  }[]
  readonly annotations: Readonly<Record<string, string>>
  readonly cdiDevices: readonly { readonly name: string }[]
}

export interface PreferredRequest {
  readonly available: readonly string[]
  readonly mustInclude: readonly string[]
  readonly allocationSize: number
}

/** The service of one device plugin, a program of somebody else behind a socket: each call has a deadline. */
export interface DevicePlugin extends Disposable {
  options(signal: AbortSignal): Promise<PluginOptions>
  /** Calls `onDevices` with all devices whenever they change. Resolves or rejects when the plugin ends. */
  watch(onDevices: (devices: readonly PluginDevice[]) => void, signal: AbortSignal): Promise<void>
  preferred(request: PreferredRequest, signal: AbortSignal): Promise<readonly string[]>
  allocate(ids: readonly string[], signal: AbortSignal): Promise<ContainerDevices | undefined>
  preStart(ids: readonly string[], signal: AbortSignal): Promise<void>
}

export function dialDevicePlugin(socketPath: string): DevicePlugin {
  const channel = new GrpcChannel(`unix:${socketPath}`, { messageBytesMax })
  const methods = loadMethods(devicePlugin)
  const ask = pluginCaller(channel, methods)
  // The schema table defines the answers.
  const call = async <T>(
    name: string,
    request: object,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<T> => (await ask(name, request, timeoutMs, signal)) as T
  return {
    options: (signal) => call('GetDevicePluginOptions', {}, probeTimeoutMs, signal),
    async watch(onDevices, signal) {
      const { ListAndWatch: method } = methods
      if (!method) throw new RangeError('Cannot watch plugin: its schema lacks ListAndWatch')
      const onMessage = (message: object): void =>
        onDevices((message as { devices: PluginDevice[] }).devices)
      await channel.serverStream(method, {}, { timeoutMs: 0, onMessage }, signal)
    },
    async preferred(request, signal) {
      const asked = { containerRequests: [request] }
      const answer = await call<{ containerResponses: { deviceIds: string[] }[] }>(
        'GetPreferredAllocation',
        asked,
        probeTimeoutMs,
        signal,
      )
      return answer.containerResponses[0]?.deviceIds ?? []
    },
    async allocate(deviceIds, signal) {
      const asked = { containerRequests: [{ deviceIds }] }
      const answer = await call<{ containerResponses: ContainerDevices[] }>(
        'Allocate',
        asked,
        callTimeoutMs,
        signal,
      )
      return answer.containerResponses[0]
    },
    async preStart(deviceIds, signal) {
      await call('PreStartContainer', { deviceIds }, callTimeoutMs, signal)
    },
    [Symbol.dispose]() {
      channel[Symbol.dispose]()
    },
  }
}
