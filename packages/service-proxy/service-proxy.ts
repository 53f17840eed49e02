import {
  abortReason,
  createBackoff,
  createWakeFlag,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import type { EndpointSlice, Service } from '@skerry/api'
import type { Nft } from './nft.ts'
import { renderDelta, renderTable, type NftTable } from './nft-table.ts'
import { planServicePorts } from './service-ports.ts'
import { buildServiceTable, type ServiceNetwork } from './service-table.ts'

export interface ServiceProxyConfig {
  nodeName: string
  network: ServiceNetwork
}

export interface ServiceProxyDeps {
  nft: Nft
  clock: Clock
  random: Random
  log: Logger
}

export interface ServiceProxy {
  /** What the rules should say from now on; the newest call wins. Cheap: the work is done in `run`. */
  update(services: readonly Service[], slices: readonly EndpointSlice[]): void
  /** This node's pod range became known. */
  setPodCidr(podCidr: string): void
  /** Applies updates until the signal aborts; the rules stay, so that pods keep their services. */
  run(signal: AbortSignal): Promise<never>
}

/** A burst of changes (a rollout) becomes one transaction. */
const settleMs = 50

export function createServiceProxy(
  config: ServiceProxyConfig,
  deps: ServiceProxyDeps,
): ServiceProxy {
  let network = config.network
  let wanted: { services: readonly Service[]; slices: readonly EndpointSlice[] } | undefined
  let applied: NftTable | undefined
  const dirty = createWakeFlag()

  const applyOnce = async (signal: AbortSignal): Promise<void> => {
    if (wanted === undefined) return
    const ports = planServicePorts(wanted.services, wanted.slices, config.nodeName)
    const next = buildServiceTable(ports, network)
    const script = applied === undefined ? renderTable(next) : renderDelta(applied, next)
    if (script === '') return
    // Should it fail half-known, the next try replaces the whole table.
    const before = applied
    applied = undefined
    await deps.nft.apply(script, signal)
    applied = next
    deps.log.debug('Service rules applied', { ports: ports.length, isWhole: before === undefined })
  }

  return {
    update(services, slices) {
      wanted = { services, slices }
      dirty.raise()
    },
    setPodCidr(podCidr) {
      network = { ...network, podCidr }
      dirty.raise()
    },
    async run(signal) {
      const backoff = createBackoff({ initialMs: 200, maxMs: 30_000 }, deps.random)
      for (;;) {
        await dirty.wait(signal)
        await deps.clock.sleep(settleMs, signal)
        try {
          await applyOnce(signal)
          backoff.reset()
        } catch (error) {
          if (signal.aborted) throw abortReason(signal)
          deps.log.error('Service rules not applied, trying again', { error: asError(error) })
          await deps.clock.sleep(backoff.nextMs(), signal)
          dirty.raise()
        }
      }
    },
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
