import type { APIService, APIServiceCondition, EndpointSlice, Service } from '@skerry/api'

/** The Available condition without its time. */
export interface Availability {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export const localAvailability: Availability = Object.freeze({
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
})

export const passedAvailability: Availability = Object.freeze({
  status: 'True',
  reason: 'Passed',
  message: 'all checks passed',
})

export function failedDiscovery(message: string): Availability {
  return { status: 'False', reason: 'FailedDiscoveryCheck', message }
}

/**
 * Returns why the service is unavailable, judging by the objects alone, or undefined if it is worth
 * asking.
 */
export function unreachability(
  { name, namespace, port }: { name: string; namespace: string; port: number },
  service: Service | undefined,
  slices: readonly EndpointSlice[],
): Availability | undefined {
  const where = `service/${name} in ${JSON.stringify(namespace)}`
  const unavailable = (reason: string, message: string): Availability => ({
    status: 'False',
    reason,
    message,
  })
  if (!service) return unavailable('ServiceNotFound', `${where} is not present`)
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined
  const servicePort = (service.spec?.ports ?? []).find((each) => each.port === port)
  if (!servicePort) {
    return unavailable('ServicePortError', `${where} is not listening on port ${port}`)
  }
  if (slices.length === 0) {
    return unavailable('EndpointsNotFound', `cannot find endpointslices for ${where}`)
  }
  const portName = servicePort.name ?? ''
  if (slices.some((slice) => serves(slice, portName))) return undefined
  return unavailable(
    'MissingEndpoints',
    `endpointslices for ${where} have no addresses with port name ${JSON.stringify(portName)}`,
  )
}

function serves({ endpoints, ports }: EndpointSlice, portName: string): boolean {
  return (
    (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false) &&
    (ports ?? []).some(({ name, port }) => (name ?? '') === portName && port !== undefined)
  )
}

export function isAvailable({ status }: APIService): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === 'Available' && condition.status === 'True',
  )
}

/** Returns the conditions with this availability, or undefined if they already contain it. */
export function withAvailability(
  conditions: readonly APIServiceCondition[],
  availability: Availability,
  now: string,
): APIServiceCondition[] | undefined {
  const before = conditions.find(({ type }) => type === 'Available')
  const { status, reason, message } = availability
  if (before?.status === status && before.reason === reason && before.message === message) {
    return undefined
  }
  const next: APIServiceCondition = {
    type: 'Available',
    status,
    reason,
    message,
    lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? now) : now,
  }
  return before
    ? conditions.map((condition) => (condition.type === 'Available' ? next : condition))
    : [...conditions, next]
}
