import {
  abortReason,
  asError,
  createBackoff,
  createWakeFlag,
  sayWhenNew,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { EndpointSlice, Service } from '@skerry/api'
import type { NetworkHealth } from '../network/network-health.ts'
import type { Nft } from '../nftables/nft.ts'
import { hasSameRules, renderDelta, renderTable, type NftTable } from '../nftables/nft-table.ts'
import { planAddresses, type AddressPlan, type RefusedAddress } from './address-plan.ts'
import { portsInUse } from './balanced-ports.ts'
import type { MachinePorts } from './machine-ports.ts'
import { groupByService, planServicePorts } from './service-ports.ts'
import { buildServiceTable, type ServiceNetwork } from './service-table.ts'
import { serviceProxyBounds } from '../limits-table.ts'

export interface ServiceProxyConfig {
  nodeName: string
  network: ServiceNetwork
}

export interface ServiceProxyDeps {
  nft: Nft
  /** Reads the machine's addresses and used ports. */
  readMachine: () => Promise<MachinePorts>
  /** Called with the used ports that load balancers want of this node, e.g. `22/tcp`, when they have changed. */
  onUsedPorts?: (ports: readonly string[]) => void
  clock: Clock
  random: Random
  log: Logger
  health: NetworkHealth
}

export interface ServiceProxy {
  /**
   * Sets the wanted state of the rules, and this node's zone; the newest call wins. Cheap: `run` does the work.
   */
  update(services: readonly Service[], slices: readonly EndpointSlice[], zone?: string): void
  /** Call this when this node's pod range becomes known. */
  setPodCidr(podCidr: string): void
  /** Sets the addresses of all nodes, which no service may take. */
  setNodeAddresses(addresses: readonly string[]): void
  /** Applies updates until the signal aborts. The rules remain, so that pods keep their services. */
  run(signal: AbortSignal): Promise<never>
}

const { betweenMs, checkMs } = serviceProxyBounds.serviceProxy
const healthPart = 'service rules'

export function createServiceProxy(
  config: ServiceProxyConfig,
  deps: ServiceProxyDeps,
): ServiceProxy {
  const { nodeName } = config
  let { network } = config
  let wanted: WantedServices | undefined
  let applied: AppliedTable | undefined
  const dirty = createWakeFlag()
  const sayRefused = sayWhenNew<RefusedAddress>((refused) =>
    deps.log.info('Address of a service refused', { ...refused }),
  )

  const lookAtMachine = machineLook(deps)
  const applyOnce = async (signal: AbortSignal): Promise<void> => {
    if (wanted === undefined) return
    network = await lookAtMachine(wanted.services, network)
    const plan = planServices(wanted, nodeName, network)
    sayRefused(plan.refused)
    const next = buildServiceTable(plan, network)
    if (applied !== undefined && isCheckDue(applied, next, deps)) {
      applied = await unlessChanged(applied, deps, signal)
    }
    const before = applied
    const script = before === undefined ? renderTable(next) : renderDelta(before.table, next)
    if (script === '') return
    // If the result is unknown, the next try replaces the whole table.
    applied = undefined
    const isWhole = await applyScript(script, { before, next }, deps, signal)
    const isKnown = !isWhole && before !== undefined && hasSameRules(before.table, next)
    applied = isKnown ? { ...before, table: next } : await seenInKernel(next, deps, signal)
    deps.log.debug('Service rules applied', { ports: plan.ports.length, isWhole })
  }

  deps.health.set(healthPart, 'not applied yet')

  return {
    update(services, slices, zone) {
      wanted = { services, slices, zone }
      dirty.raise()
    },
    setPodCidr(podCidr) {
      network = { ...network, podCidr }
      dirty.raise()
    },
    setNodeAddresses(nodeAddresses) {
      network = { ...network, nodeAddresses }
      dirty.raise()
    },
    async run(signal) {
      const backoff = createBackoff(serviceProxyBounds.serviceProxy.retry, deps.random)
      let freeAtMs = -Infinity
      for (;;) {
        using _timer = deps.clock.setTimer(checkMs, dirty.raise)
        await dirty.wait(signal)
        const waitMs = freeAtMs - deps.clock.monotonicMs()
        if (waitMs > 0) await deps.clock.sleep(waitMs, signal)
        try {
          await applyOnce(signal)
          freeAtMs = deps.clock.monotonicMs() + betweenMs
          backoff.reset()
          if (applied) deps.health.set(healthPart, undefined)
        } catch (error) {
          if (signal.aborted) throw abortReason(signal)
          deps.health.set(healthPart, asError(error).message)
          deps.log.error('Service rules not applied, trying again', { error: asError(error) })
          await deps.clock.sleep(backoff.nextMs(), signal)
          dirty.raise()
        }
      }
    },
  }
}

/** Returns a function that adds the machine to the network, if services need it, and reports used ports. */
function machineLook({
  readMachine,
  onUsedPorts,
}: Pick<ServiceProxyDeps, 'readMachine' | 'onUsedPorts'>): (
  services: readonly Service[],
  network: ServiceNetwork,
) => Promise<ServiceNetwork> {
  let last = ''
  return async (services, network) => {
    const isNeeded = services.some(hasExternalAddress)
    const machine = isNeeded ? await readMachine() : undefined
    const used = machine ? portsInUse(services, machine, network.nodeAddresses) : []
    if (used.join() !== last) onUsedPorts?.(used)
    last = used.join()
    return { ...network, machine }
  }
}

/** A balancer without an address wants to know whether this node can serve it. */
function hasExternalAddress({ spec }: Service): boolean {
  return spec?.type === 'LoadBalancer' || (spec?.externalIPs ?? []).length > 0
}

interface WantedServices {
  readonly services: readonly Service[]
  readonly slices: readonly EndpointSlice[]
  readonly zone: string | undefined
}

function planServices(
  { services, slices, zone }: WantedServices,
  nodeName: string,
  network: ServiceNetwork,
): AddressPlan {
  const ports = planServicePorts(services, slices, { nodeName, zone })
  const reservedAddresses = [...network.reservedAddresses, ...apiServerAddresses(slices)]
  return planAddresses(ports, { ...network, reservedAddresses })
}

/** The table that the kernel was given, and its listing there. */
interface AppliedTable {
  readonly table: NftTable
  readonly fingerprint: string
  /** The monotonic time of the last look at the kernel. */
  readonly checkedAtMs: number
}

/** The listing leaves elements out, so that a change of elements alone is compared with it at leisure. */
function isCheckDue(
  { table, checkedAtMs }: AppliedTable,
  next: NftTable,
  { clock }: Pick<ServiceProxyDeps, 'clock'>,
): boolean {
  return !hasSameRules(table, next) || clock.monotonicMs() >= checkedAtMs + checkMs
}

type KernelDeps = Pick<ServiceProxyDeps, 'nft' | 'log' | 'clock'>

/** Returns undefined if another program has changed the rules since. */
async function unlessChanged(
  applied: AppliedTable,
  deps: KernelDeps,
  signal: AbortSignal,
): Promise<AppliedTable | undefined> {
  const now = await seenInKernel(applied.table, deps, signal)
  if (now.fingerprint === applied.fingerprint) return now
  deps.log.info('Service rules were changed by another program, applying them again', {
    isGone: now.fingerprint === '',
  })
  return undefined
}

async function seenInKernel(
  table: NftTable,
  { nft, clock }: KernelDeps,
  signal: AbortSignal,
): Promise<AppliedTable> {
  const checkedAtMs = clock.monotonicMs()
  return { table, fingerprint: await nft.fingerprint(table.name, signal), checkedAtMs }
}

/** Returns true if the whole table was applied, which a difference becomes if another program has changed the rules. */
async function applyScript(
  script: string,
  { before, next }: { before: AppliedTable | undefined; next: NftTable },
  deps: KernelDeps,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await deps.nft.apply(script, signal)
    return before === undefined
  } catch (error) {
    if (before === undefined || signal.aborted) throw error
    if ((await unlessChanged(before, deps, signal)) !== undefined) throw error
    await deps.nft.apply(renderTable(next), signal)
    return true
  }
}

/** Returns the API server's addresses from the slices that it writes itself. */
function apiServerAddresses(slices: readonly EndpointSlice[]): string[] {
  const own = groupByService(slices).get('default/kubernetes') ?? []
  return own.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses))
}
