import type { Service } from '@skerry/api'
import { resources } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import { timestamp } from '../status/timestamp.ts'
import { addressesText, nextStatus, shortened } from './balance-status.ts'
import type { Balance } from './balanced-service.ts'

export interface Writing {
  readonly context: ControllerContext
  readonly told: Map<string, string>
}

/** Writes the addresses of a service and what there is to say about them, if they differ. */
export async function writeBalance(
  balance: Balance,
  { context, told }: Writing,
  signal: AbortSignal,
): Promise<void> {
  const { service } = balance
  const status = nextStatus(balance, timestamp(context.clock.now()))
  if (status !== undefined) {
    // With its version: another controller may have changed conditions since.
    const next: Service = { ...service, status }
    await context.client(resources.services).updateStatus(next, signal)
  }
  tell(balance, status === undefined ? service : { ...service, status }, { context, told })
}

/** Says each thing once. A process that has just started says again what keeps a service from an address. */
function tell(
  { service, portFaults, fault }: Balance,
  now: Service,
  { context, told }: Writing,
): void {
  const [before, after] = [addressesText(service), addressesText(now)]
  const uid = service.metadata.uid ?? ''
  const say = (type: 'Normal' | 'Warning', reason: string, message: string): void =>
    context.events.event(service, { type, reason, message: shortened(message) })
  if (before !== after && after !== 'none') {
    say('Normal', 'UpdatedLoadBalancer', `Updated LoadBalancer with new IPs: ${before} -> ${after}`)
  }
  const why = [...(fault === undefined ? [] : [`Not served: ${fault}`]), ...portFaults].join('; ')
  if (told.get(uid) === why) return
  told.set(uid, why)
  if (why !== '') say('Warning', fault === undefined ? 'PortInUse' : 'UnAvailableLoadBalancer', why)
}

/** Forgets services that are gone. */
export function forgetGone(told: Map<string, string>, balances: readonly Balance[]): void {
  const uids = new Set(balances.map(({ service }) => service.metadata.uid ?? ''))
  for (const uid of told.keys()) if (!uids.has(uid)) told.delete(uid)
}
