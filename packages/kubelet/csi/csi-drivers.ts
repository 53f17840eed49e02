import { checkDnsSubdomain, checkLabelValue, checkQualifiedName } from '@skerry/api'
import type { Logger } from '@skerry/base'
import { kubeletBounds } from '../limits-table.ts'
import { VolumeError } from '../volumes/volume.ts'
import { dialCsiDriver, type CsiDriver, type DriverInfo } from './csi-driver.ts'
import { PluginRefusal, type Plugin, type PluginHandler } from './plugin-registry.ts'

/** A driver that is registered at this node. */
export interface RegisteredDriver extends DriverInfo {
  readonly name: string
  /** The socket at which it registered. */
  readonly socket: string
  readonly capabilities: Awaited<ReturnType<CsiDriver['capabilities']>>
  readonly calls: CsiDriver
}

interface CsiDriversDeps {
  log: Logger
  /** Called when a driver came or went. */
  onChange: () => void
}

const { driverNameCharactersMax, nodeIdCharactersMax, topologyKeysMax } = kubeletBounds.csi

/** The CSI drivers of this node. A later registration of a name replaces an earlier one. */
export class CsiDrivers implements PluginHandler, Disposable {
  readonly #deps: CsiDriversDeps
  readonly #drivers = new Map<string, RegisteredDriver>()

  constructor(deps: CsiDriversDeps) {
    this.#deps = deps
  }

  list(): RegisteredDriver[] {
    return [...this.#drivers.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
  }

  find(name: string): RegisteredDriver | undefined {
    return this.#drivers.get(name)
  }

  /** Throws VolumeError with kubelet's text if there is no such driver. */
  get(name: string): RegisteredDriver {
    const found = this.#drivers.get(name)
    if (found) return found
    throw new VolumeError(`driver name ${name} not found in the list of registered CSI drivers`)
  }

  async add(plugin: Plugin, signal: AbortSignal): Promise<void> {
    const { name, socket, endpoint } = plugin
    const fault = faultOf(plugin)
    if (fault !== undefined) throw new PluginRefusal(fault)
    const { log, onChange } = this.#deps
    const calls = dialCsiDriver(endpoint)
    try {
      const info = await calls.info(signal)
      const infoFault = faultOfInfo(info)
      if (infoFault !== undefined) throw new PluginRefusal(infoFault)
      const capabilities = await calls.capabilities(signal)
      this.#drivers.get(name)?.calls[Symbol.dispose]()
      this.#drivers.set(name, { ...info, name, socket, capabilities, calls })
    } catch (error) {
      calls[Symbol.dispose]()
      throw error
    }
    log.info('CSI driver registered', { driver: name, endpoint })
    onChange()
  }

  remove({ name, socket }: Plugin): void {
    const known = this.#drivers.get(name)
    if (known?.socket !== socket) return
    this.#drivers.delete(name)
    known.calls[Symbol.dispose]()
    this.#deps.log.info('CSI driver is gone', { driver: name })
    this.#deps.onChange()
  }

  [Symbol.dispose](): void {
    for (const { calls } of this.#drivers.values()) calls[Symbol.dispose]()
    this.#drivers.clear()
  }
}

function faultOf({ name, endpoint, versions }: Plugin): string | undefined {
  if (name.length > driverNameCharactersMax || checkDnsSubdomain(name.toLowerCase()).length > 0) {
    return 'the name of a CSI driver must be a DNS subdomain of at most 63 characters'
  }
  if (!endpoint.startsWith('/')) return 'the endpoint of a CSI driver must be an absolute path'
  if (versions.some((version) => /^v?1(\.\d+)*$/.test(version))) return undefined
  return `versions [${versions.join(', ')}] of CSI are not supported by this node, which has 1.x`
}

/** The API would refuse such values, and with them the records of all other drivers of the node. */
function faultOfInfo({ nodeId, topology, volumesMax }: DriverInfo): string | undefined {
  if (nodeId === '' || nodeId.length > nodeIdCharactersMax) {
    return `NodeGetInfo: node_id must have 1 to ${nodeIdCharactersMax} characters`
  }
  if (!Number.isSafeInteger(volumesMax) || volumesMax < 0) {
    return 'NodeGetInfo: max_volumes_per_node must not be negative'
  }
  const entries = Object.entries(topology)
  if (entries.length > topologyKeysMax) {
    return `NodeGetInfo: accessible_topology has more than ${topologyKeysMax} segments`
  }
  const wrong = entries.find(
    ([key, value]) => checkQualifiedName(key).length + checkLabelValue(value).length > 0,
  )
  return wrong && `NodeGetInfo: the segment ${JSON.stringify(wrong[0])} cannot be a label`
}
