import type { Condition, Service, ServiceStatus } from '@skerry/api'
import { sameStatus } from '../status/same-status.ts'
import { controllerBounds } from '../limits-table.ts'
import type { Balance } from './balanced-service.ts'

/** Upstream's type of the condition that explains why not all ports of a load balancer are served. */
const portsError = 'LoadBalancerPortsError'

const { messageCharactersMax } = controllerBounds.balanceStatus

/** Returns the status that the service is to have, or undefined if it has it. Pure. */
export function nextStatus(
  { service, ingress, portFaults }: Balance,
  timestamp: string,
): ServiceStatus | undefined {
  const { status = {} } = service
  const known = (status.conditions ?? []).find(({ type }) => type === portsError)
  const others = (status.conditions ?? []).filter(({ type }) => type !== portsError)
  const message = shortened(portFaults.join('; '))
  const condition: Condition = {
    type: portsError,
    status: 'True',
    reason: 'PortInUse',
    message,
    lastTransitionTime: known?.status === 'True' ? known.lastTransitionTime : timestamp,
  }
  const conditions = message === '' ? others : [...others, condition]
  const loadBalancer = ingress.length === 0 ? {} : { ingress: [...ingress] }
  const next: ServiceStatus = { ...status, loadBalancer, conditions }
  return sameStatus(status, next) ? undefined : next
}

/** Reports whether a service of another type still has what was said about it as a load balancer. */
export function isReleased({ spec, status }: Service): boolean {
  const conditions = status?.conditions ?? []
  return spec?.type !== 'LoadBalancer' && conditions.some(({ type }) => type === portsError)
}

export function addressesText({ status }: Pick<Service, 'status'>): string {
  const ips = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
  return ips.length === 0 ? 'none' : ips.join(', ')
}

export function shortened(text: string): string {
  return text.length <= messageCharactersMax
    ? text
    : `${text.slice(0, messageCharactersMax - 3)}...`
}
