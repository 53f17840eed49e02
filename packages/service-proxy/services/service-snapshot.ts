import type { EndpointSlice, Service } from '@skerry/api'
import { stateFile, type StateFile } from '../network/state-file.ts'
import type { NodeLabels } from './node-labels.ts'

/**
 * The state that a node needs to serve its service network after a reboot while the control plane
 * is away.
 */
export interface ServiceState {
  services: readonly Service[]
  slices: readonly EndpointSlice[]
  /** The addresses of all nodes, which no service may take. Omitted in files of older versions. */
  nodeAddresses?: readonly string[]
  /** The labels that services name as places. Omitted in files of older versions. */
  nodeLabels?: NodeLabels
}

export type ServiceSnapshot = StateFile<ServiceState>

const serviceNameLabel = 'kubernetes.io/service-name'

/**
 * Returns the state as it may be by now. The snapshot is as old as the last contact with the
 * control plane, often from the middle of the pods' start; a service without ready endpoints then
 * would stay refused until the contact returns. All its endpoints are tried instead, except
 * terminating ones.
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
