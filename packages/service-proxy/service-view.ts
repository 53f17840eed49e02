import { sayWhenNew, type Logger, type WakeFlag } from '@skerry/base'
import { equalJson, type Node } from '@skerry/api'
import { buildZone, type Zone } from './dns/zone.ts'
import type { HealthCheckPorts } from './services/health-check-ports.ts'
import { livingEndpoints } from './services/living-endpoints.ts'
import { nearEndpoints, topologyKeysOf, type TopologyFault } from './services/near-endpoints.ts'
import { nodeLabelsOf, withKeys, zoneKey, type NodeLabels } from './services/node-labels.ts'
import type { ServiceProxy } from './services/service-proxy.ts'
import type { ServiceState } from './services/service-snapshot.ts'
import { unitHostname } from './services/unit-hostname.ts'
import { serviceProxyBounds } from './limits-table.ts'

export interface ServiceViewConfig {
  readonly nodeName: string
  readonly nodeAddress: string
  readonly clusterDomain: string
}

export interface ServiceViewDeps {
  readonly proxy: Pick<ServiceProxy, 'update' | 'setNodeAddresses'>
  readonly healthChecks: Pick<HealthCheckPorts, 'update'>
  /** Raised when the snapshot is older than the view. */
  readonly isOutdated: Pick<WakeFlag, 'raise'>
  readonly log: Logger
}

const { dnsTtlSeconds } = serviceProxyBounds.runServiceNetwork

/** Keeps this node's view of services and nodes, and gives rules, DNS and health checks the endpoints near the node. */
export class ServiceView {
  readonly #config: ServiceViewConfig
  readonly #deps: ServiceViewDeps
  readonly #sayFaults: (faults: readonly TopologyFault[]) => void
  #nodeAddresses: readonly string[] = []
  #nodeLabels: NodeLabels = {}
  #heard: (() => ServiceState) | undefined
  #zone: Zone | undefined
  #dead: ReadonlySet<string> = new Set()
  #living = livingEndpoints(this.#dead)

  constructor(config: ServiceViewConfig, deps: ServiceViewDeps) {
    this.#config = config
    this.#deps = deps
    this.#sayFaults = sayWhenNew((fault) =>
      deps.log.error('Annotation of a service not understood: it uses all its endpoints', {
        ...fault,
      }),
    )
    this.#showAddresses()
  }

  get zone(): Zone | undefined {
    return this.#zone
  }

  /** Whether the control plane has sent all services and endpoints. */
  get isComplete(): boolean {
    return this.#heard !== undefined
  }

  /** Shows a snapshot. `amend` gets the state with the endpoints that this node may use. */
  showSaved(saved: ServiceState, amend: (near: ServiceState) => ServiceState): void {
    this.#nodeAddresses = saved.nodeAddresses ?? []
    this.#nodeLabels = saved.nodeLabels ?? {}
    this.#showAddresses()
    this.#show(amend(this.#near(saved)))
  }

  /** Shows what the control plane has sent, now and after each change of the nodes' labels. */
  showHeard(state: () => ServiceState): void {
    this.#heard = state
    this.#show(this.#near(state()))
  }

  /** Nodes change with every heartbeat, their addresses and labels rarely. */
  setNodes(nodes: readonly Node[]): void {
    const addresses = nodeAddressesOf(nodes)
    if (addresses.join() !== this.#nodeAddresses.join()) {
      this.#nodeAddresses = addresses
      this.#showAddresses()
      this.#deps.isOutdated.raise()
    }
    const labels = nodeLabelsOf(nodes)
    if (equalJson(labels, this.#nodeLabels)) return
    this.#nodeLabels = labels
    this.#deps.isOutdated.raise()
    if (this.#heard !== undefined) this.showHeard(this.#heard)
  }

  /** Takes the endpoints of these nodes out, and puts those of others back. */
  setDeadNodes(dead: ReadonlySet<string>): void {
    if (dead.size === this.#dead.size && dead.isSubsetOf(this.#dead)) return
    this.#dead = dead
    this.#living = livingEndpoints(dead)
    this.#deps.log.info('Endpoints of dead nodes are left out', { nodes: [...dead].join(', ') })
    if (this.#heard !== undefined) this.showHeard(this.#heard)
  }

  /** Returns a state as a snapshot keeps it. */
  kept(state: ServiceState): ServiceState {
    const nodeLabels = withKeys(this.#nodeLabels, topologyKeysOf(state.services))
    return { ...state, nodeAddresses: this.#nodeAddresses, nodeLabels }
  }

  #near(state: ServiceState): ServiceState {
    const place = { nodeName: this.#config.nodeName, nodes: this.#nodeLabels }
    const living = this.#living(state.slices)
    const { slices, faults } = nearEndpoints(state.services, living, place)
    this.#sayFaults(faults)
    return { ...state, slices }
  }

  #show({ services, slices }: ServiceState): void {
    const labels = this.#nodeLabels
    const { clusterDomain, nodeName } = this.#config
    this.#deps.proxy.update(services, slices, labels[nodeName]?.[zoneKey])
    this.#deps.healthChecks.update(services, slices)
    this.#zone = buildZone(services, slices, {
      domain: clusterDomain,
      ttlSeconds: dnsTtlSeconds,
      secondHostname: (service, endpoint) => unitHostname(service, endpoint, labels),
    })
  }

  #showAddresses(): void {
    this.#deps.proxy.setNodeAddresses([this.#config.nodeAddress, ...this.#nodeAddresses])
  }
}

function nodeAddressesOf(nodes: readonly Node[]): string[] {
  const all = nodes.flatMap(({ status }) => status?.addresses ?? [])
  return all.map(({ address }) => address).toSorted()
}
