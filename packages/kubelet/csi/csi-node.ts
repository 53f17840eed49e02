import { join } from 'node:path'
import { runAll, type Clock, type Logger, type Random } from '@skerry/base'
import type { Node } from '@skerry/api'
import type { ClusterClient, EventRecorder } from '@skerry/client'
import { ApiFacts } from './api-facts.ts'
import { ClaimExpansion } from './claim-expansion.ts'
import { CsiDrivers } from './csi-drivers.ts'
import { CsiNodeReport } from './csi-node-report.ts'
import { DriverVolumes } from './driver-volumes.ts'
import { PluginRegistry } from './plugin-registry.ts'
import { VolumeLedger } from './volume-ledger.ts'

export interface CsiNodeOptions {
  nodeName: string
  dataDirectory: string
  bootId: string
}

export interface CsiNodeDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
  events: EventRecorder
  /** Returns the node object as the API had it last. */
  node: () => Node | undefined
  /** Called when a driver came: pods may have waited for it. */
  onDriver: () => void
  /** Called when the node's status or annotations should be reported at once. */
  onNews: () => void
}

/** The annotation by which the attach-detach controller knows that it acts for this node. */
const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach'
/** kubelet's annotation with each driver's name for the node. */
const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid'

/** The drivers of the container storage interface on this node, and their volumes. */
export class CsiNode implements Disposable {
  readonly volumes: DriverVolumes
  readonly #drivers: CsiDrivers
  readonly #registry: PluginRegistry
  readonly #report: CsiNodeReport
  readonly #ledger: VolumeLedger

  constructor({ nodeName, dataDirectory, bootId }: CsiNodeOptions, deps: CsiNodeDeps) {
    const { onDriver, onNews, log } = deps
    const onChange = (): void => {
      this.#report.refresh()
      onNews()
      onDriver()
    }
    this.#drivers = new CsiDrivers({ ...deps, onChange })
    this.#report = new CsiNodeReport(nodeName, { ...deps, drivers: this.#drivers })
    this.#ledger = new VolumeLedger({ dataDirectory, bootId, log, onInUse: onNews })
    this.#registry = new PluginRegistry(join(dataDirectory, 'plugins_registry'), {
      ...deps,
      handlers: { CSIPlugin: this.#drivers },
    })
    this.volumes = new DriverVolumes({
      ...deps,
      drivers: this.#drivers,
      facts: new ApiFacts({ ...deps, nodeName }),
      expansion: new ClaimExpansion(deps),
      ledger: this.#ledger,
    })
  }

  /** Reads the records of an earlier run. Call once, before pods are looked at. */
  async load(): Promise<void> {
    await this.#ledger.load()
  }

  annotations(): Record<string, string | null> {
    const ids = this.#drivers.list().map(({ name, nodeId }) => [name, nodeId] as const)
    return {
      [managedAnnotation]: 'true',
      [nodeIdAnnotation]: ids.length === 0 ? null : JSON.stringify(Object.fromEntries(ids)),
    }
  }

  volumesInUse(): readonly string[] {
    return this.#ledger.volumesInUse()
  }

  async run(signal: AbortSignal): Promise<void> {
    await runAll(signal, [(scope) => this.#registry.run(scope), (scope) => this.#report.run(scope)])
  }

  [Symbol.dispose](): void {
    this.#drivers[Symbol.dispose]()
  }
}
