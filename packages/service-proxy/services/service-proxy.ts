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
import { renderDelta, renderTable, type NftTable } from '../nftables/nft-table.ts'
import { planAddresses, type RefusedAddress } from './address-plan.ts'
import { groupByService, planServicePorts } from './service-ports.ts'
import { buildServiceTable, type ServiceNetwork } from './service-table.ts'
import { serviceProxyBounds } from '../limits-table.ts'

export interface ServiceProxyConfig {
  nodeName: string
  network: ServiceNetwork
}

export interface ServiceProxyDeps {
  nft: Nft
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

  const applyOnce = async (signal: AbortSignal): Promise<void> => {
    if (wanted === undefined) return
    const place = { nodeName, zone: wanted.zone }
    const ports = planServicePorts(wanted.services, wanted.slices, place)
    const plan = planAddresses(ports, {
      ...network,
      reservedAddresses: [...network.reservedAddresses, ...apiServerAddresses(wanted.slices)],
    })
    sayRefused(plan.refused)
    const next = buildServiceTable(plan, network)
    const before = await unlessChanged(applied, deps, signal)
    const script = before === undefined ? renderTable(next) : renderDelta(before.table, next)
    if (script === '') return
    // If the result is unknown, the next try replaces the whole table.
    applied = undefined
    await deps.nft.apply(script, signal)
    applied = { table: next, fingerprint: await deps.nft.fingerprint(next.name, signal) }
    deps.log.debug('Service rules applied', { ports: ports.length, isWhole: before === undefined })
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

interface WantedServices {
  readonly services: readonly Service[]
  readonly slices: readonly EndpointSlice[]
  readonly zone: string | undefined
}

/** The table that the kernel was given, and its listing there. */
interface AppliedTable {
  readonly table: NftTable
  readonly fingerprint: string
}

/** Returns undefined if another program has changed the rules since. */
async function unlessChanged(
  applied: AppliedTable | undefined,
  { nft, log }: Pick<ServiceProxyDeps, 'nft' | 'log'>,
  signal: AbortSignal,
): Promise<AppliedTable | undefined> {
  if (applied === undefined) return undefined
  const now = await nft.fingerprint(applied.table.name, signal)
  if (now === applied.fingerprint) return applied
  log.info('Service rules were changed by another program, applying them again', {
    isGone: now === '',
  })
  return undefined
}

/** Returns the API server's addresses from the slices that it writes itself. */
function apiServerAddresses(slices: readonly EndpointSlice[]): string[] {
  const own = groupByService(slices).get('default/kubernetes') ?? []
  return own.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses))
}
