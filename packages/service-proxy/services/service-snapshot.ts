import type { EndpointSlice, Service } from '@skerry/api'
import { stateFile, type StateFile } from '../network/state-file.ts'

/** What a node needs to serve its service network after a reboot with the control plane away. */
export interface ServiceState {
  services: readonly Service[]
  slices: readonly EndpointSlice[]
  /** Addresses of all nodes, which no service takes. Absent in files of older versions. */
  nodeAddresses?: readonly string[]
}

export type ServiceSnapshot = StateFile<ServiceState>

const serviceNameLabel = 'kubernetes.io/service-name'

/**
 * The state as it may be by now. The snapshot is as old as the last word from the control plane,
 * often from amid the start of the pods; a service of which no endpoint was ready then would stay
 * refused until that returns. All its endpoints are tried instead, but those that were ending.
 */
export function presumeReady(state: ServiceState): ServiceState {
  const nameOf = ({ metadata }: EndpointSlice): string =>
    `${metadata.namespace}/${metadata.labels?.[serviceNameLabel]}`
  const served = new Set<string>()
  for (const slice of state.slices) {
    const isServed = (slice.endpoints ?? []).some(({ conditions }) => conditions?.ready !== false)
    if (isServed) served.add(nameOf(slice))
  }
  const slices = state.slices.map((slice) => (served.has(nameOf(slice)) ? slice : allReady(slice)))
  return { ...state, slices }
}

function allReady(slice: EndpointSlice): EndpointSlice {
  const endpoints = (slice.endpoints ?? []).map((endpoint) =>
    endpoint.conditions?.terminating === true
      ? endpoint
      : { ...endpoint, conditions: { ...endpoint.conditions, ready: true, serving: true } },
  )
  return { ...slice, endpoints }
}

export function fileSnapshot(path: string): ServiceSnapshot {
  return stateFile<ServiceState>(path, ['services', 'slices'])
}
