import { join } from 'node:path'
import type { Container, EphemeralContainer, Pod } from '@skerry/api'
import { checkQualifiedName } from '@skerry/api'
import { asError, type Clock, type Logger } from '@skerry/base'
import { KeyedLock } from '../keyed-lock.ts'
import { deviceDefaults, kubeletBounds } from '../limits-table.ts'
import { StartError } from '../pod/start-error.ts'
import { TaskGroup } from '../task-group.ts'
import { DeviceLedger, type DeviceEntry } from './device-ledger.ts'
import {
  dialDevicePlugin,
  type ContainerDevices,
  type DevicePlugin,
  type PluginDevice,
  type PluginOptions,
} from './device-plugin.ts'
import {
  chosenOf,
  deviceRequests,
  isDeviceResource,
  planAllocation,
  type AllocationPlan,
  type DeviceRequest,
} from './plan-allocation.ts'
import { serveRegistration, type RegisterRequest } from './registration-server.ts'

export interface DeviceNodeOptions {
  dataDirectory: string
  bootId: string
}

export interface DeviceNodeDeps {
  clock: Clock
  log: Logger
  /** Returns the pods of this node, with their status. */
  pods: () => readonly Pod[]
  /** Called when the devices changed: the node's status says so, and pods may have waited for them. */
  onNews: () => void
}

/** The number of a resource's devices, as the node reports it. */
export interface DeviceCount {
  readonly capacity: number
  readonly allocatable: number
}

/** A plugin that is connected, or was until lately. */
interface Registered {
  readonly plugin: DevicePlugin
  readonly options: PluginOptions
  /** True for each device that is healthy, by its id. */
  readonly devices: ReadonlyMap<string, boolean>
  /** The monotonic time at which the connection ended; undefined while it lasts. */
  readonly goneMs: number | undefined
}

const { version, goneKeptMs, pruneMs } = deviceDefaults
const { resourcesMax, devicesMax, idCharactersMax } = kubeletBounds.devices

/**
 * The device plugins of this node (v1beta1): programs that register at a socket and offer devices of extended resources.
 * It decides which container has which device, and keeps that on disk.
 */
export class DeviceNode {
  readonly #directory: string
  readonly #bootId: string
  readonly #deps: DeviceNodeDeps
  readonly #ledger: DeviceLedger
  readonly #registered = new Map<string, Registered>()
  /** The task of each resource's newest registration. */
  readonly #newest = new Map<string, string>()
  readonly #locks = new KeyedLock()
  #registrations = 0

  constructor({ dataDirectory, bootId }: DeviceNodeOptions, deps: DeviceNodeDeps) {
    this.#directory = join(dataDirectory, 'device-plugins')
    this.#bootId = bootId
    this.#deps = deps
    this.#ledger = new DeviceLedger(join(this.#directory, 'allocations.json'), deps.log)
  }

  async load(): Promise<void> {
    await this.#ledger.load()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#deps
    await using tasks = new TaskGroup(signal, (name, error) => {
      log.error('Device plugin failed', { plugin: name, error: asError(error) })
    })
    const socket = join(this.#directory, 'kubelet.sock')
    await using _server = await serveRegistration(socket, (asked) => this.#register(asked, tasks))
    for (;;) {
      await clock.sleep(pruneMs, signal)
      await this.#prune()
    }
  }

  /** Returns the devices by resource; those of plugins that are gone count for five minutes, and none is healthy. */
  counts(): Readonly<Record<string, DeviceCount>> {
    const nowMs = this.#deps.clock.monotonicMs()
    const counts: Record<string, DeviceCount> = {}
    // A patch of the status takes no field away, so a resource that the node has reported stays, with 0.
    for (const name of this.#ledger.resources) counts[name] = { capacity: 0, allocatable: 0 }
    for (const [name, { devices, goneMs }] of this.#registered) {
      if (goneMs !== undefined && nowMs - goneMs >= goneKeptMs) continue
      const allocatable = goneMs === undefined ? healthyOf(devices).size : 0
      counts[name] = { capacity: devices.size, allocatable }
    }
    return counts
  }

  /**
   * Gives a container that is about to start its devices: the same at each start. Throws StartError if there are not
   * enough, or their plugin is not there; the pod waits for them.
   */
  async give(
    pod: Pod,
    container: Container | EphemeralContainer,
    signal: AbortSignal,
  ): Promise<readonly ContainerDevices[]> {
    const given: ContainerDevices[] = []
    for (const request of deviceRequests(container)) {
      // Resources without a plugin are numbers that somebody wrote into the node's status.
      if (!this.#ledger.resources.has(request.resource)) continue
      const entry = await this.#locks.run(request.resource, signal, () =>
        this.#giveOne(pod, container.name, request, signal),
      )
      given.push(entry.given)
    }
    return given
  }

  async #giveOne(
    pod: Pod,
    container: string,
    request: DeviceRequest,
    signal: AbortSignal,
  ): Promise<DeviceEntry> {
    await this.#prune()
    const { resource } = request
    const podUid = pod.metadata.uid ?? ''
    const { plugin, options, devices } = this.#pluginOf(resource)
    const plan = planAllocation({
      pod,
      container,
      request,
      healthy: healthyOf(devices),
      own: this.#ledger.ownOf(podUid, resource),
      taken: this.#ledger.takenFrom(podUid, resource),
    })
    if (plan.kind === 'short') throw waiting(plan.message)
    const known = this.#ledger.entryOf(podUid, container, resource)
    let entry = known
    if (plan.kind === 'choose' || known?.bootId !== this.#bootId) {
      const ids = await chooseIds(plan, { plugin, options }, signal)
      const answer = await asStartError(resource, signal, () => plugin.allocate(ids, signal))
      if (!answer) throw waiting(`${resource}: the device plugin answered without the container`)
      const bootId = this.#bootId
      entry = { podUid, container, resource, ids: [...ids], bootId, given: plainDevices(answer) }
      await this.#ledger.put(entry)
    }
    if (!entry) throw new RangeError('Cannot give devices: there is no plan')
    const { ids } = entry
    if (options.preStartRequired) {
      await asStartError(resource, signal, () => plugin.preStart(ids, signal))
    }
    return entry
  }

  #pluginOf(resource: string): Registered {
    const found = this.#registered.get(resource)
    if (found && found.goneMs === undefined) return found
    throw waiting(`${resource}: its device plugin is not registered at this node`)
  }

  /** Throws to refuse the plugin, with upstream's words where it has some. */
  #register(asked: RegisterRequest, tasks: TaskGroup): void {
    const { resourceName: resource, endpoint } = asked
    if (asked.version !== version) {
      throw new Error(
        `requested API version ${JSON.stringify(asked.version)} is not supported by kubelet. Supported version is ${JSON.stringify(version)}`,
      )
    }
    if (!isDeviceResource(resource) || checkQualifiedName(resource).length > 0) {
      throw new Error(`the ResourceName ${JSON.stringify(resource)} is invalid`)
    }
    if (!/^[^/\0]{1,100}$/.test(endpoint) || endpoint === '.' || endpoint === '..') {
      throw new Error('the endpoint must be the name of a socket in the directory of this one')
    }
    if (!this.#ledger.resources.has(resource) && this.#ledger.resources.size >= resourcesMax) {
      throw new Error(`this node has devices of ${resourcesMax} resources, which is the most`)
    }
    const before = this.#newest.get(resource)
    if (before !== undefined) tasks.cancel(before)
    const name = `${resource} ${(this.#registrations += 1)}`
    this.#newest.set(resource, name)
    tasks.add(name, (scope) => this.#follow(name, asked, scope))
  }

  /** Follows one plugin until its connection ends; it registers again when it is back. */
  async #follow(
    name: string,
    { resourceName: resource, endpoint, options: told }: RegisterRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { log, clock } = this.#deps
    using plugin = dialDevicePlugin(join(this.#directory, endpoint))
    const isNewest = (): boolean => this.#newest.get(resource) === name
    try {
      const options = told ?? (await plugin.options(signal))
      await this.#ledger.addResource(resource)
      log.info('Device plugin registered', { resource, endpoint })
      await plugin.watch((devices) => {
        if (!isNewest()) return
        const found = this.#devicesOf(resource, devices)
        this.#registered.set(resource, { plugin, options, devices: found, goneMs: undefined })
        this.#deps.onNews()
      }, signal)
      log.info('Device plugin is gone', { resource })
    } catch (error) {
      signal.throwIfAborted()
      log.info('Device plugin is gone', { resource, error: asError(error) })
    } finally {
      const known = this.#registered.get(resource)
      if (known?.plugin === plugin) {
        this.#registered.set(resource, { ...known, goneMs: clock.monotonicMs() })
        this.#deps.onNews()
      }
    }
  }

  #devicesOf(resource: string, devices: readonly PluginDevice[]): ReadonlyMap<string, boolean> {
    const good = devices.filter(({ id }) => id !== '' && id.length <= idCharactersMax)
    const found = new Map(
      good.slice(0, devicesMax).map(({ id, health }) => [id, health === 'Healthy']),
    )
    if (found.size < devices.length) {
      this.#deps.log.error(
        'Devices of a plugin are left out: too many, twice, or without a good id',
        {
          resource,
          offered: devices.length,
          taken: found.size,
        },
      )
    }
    return found
  }

  /** Ended pods hold nothing. */
  async #prune(): Promise<void> {
    const holding = this.#deps
      .pods()
      .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
    await this.#ledger.keepOnly(new Set(holding.map(({ metadata }) => metadata.uid ?? '')))
  }
}

function healthyOf(devices: ReadonlyMap<string, boolean>): ReadonlySet<string> {
  return new Set([...devices].flatMap(([id, isHealthy]) => (isHealthy ? [id] : [])))
}

async function chooseIds(
  plan: Exclude<AllocationPlan, { kind: 'short' }>,
  { plugin, options }: Pick<Registered, 'plugin' | 'options'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (plan.kind === 'kept') return plan.ids
  const { available, mustInclude, count } = plan
  const hasChoice = available.length > count
  if (!options.getPreferredAllocationAvailable || !hasChoice) return chosenOf(plan, [])
  const asked = { available, mustInclude, allocationSize: count }
  // It is a wish: a plugin that fails to say what it prefers gets the first ones.
  const preferred = await plugin.preferred(asked, signal).catch(() => {
    signal.throwIfAborted()
    return []
  })
  return chosenOf(plan, preferred)
}

/** Copies the fields that are recorded. */
function plainDevices({ envs, mounts, devices, annotations, cdiDevices }: ContainerDevices) {
  return {
    envs: { ...envs },
    mounts: mounts.map((one) => ({ ...one })),
    devices: devices.map((one) => ({ ...one })),
    annotations: { ...annotations },
    cdiDevices: cdiDevices.map((one) => ({ ...one })),
  }
}

function waiting(message: string): StartError {
  return new StartError('CreateContainerConfigError', message)
}

async function asStartError<T>(
  resource: string,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    signal.throwIfAborted()
    throw new StartError('CreateContainerConfigError', `${resource}: ${asError(cause).message}`, {
      cause,
    })
  }
}
