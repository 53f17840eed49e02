import type { Endpoint, EndpointSlice } from '@skerry/api'
import type { ServiceState } from './service-snapshot.ts'

/**
 * Returns the state with the current addresses of this node's own pods: after a reboot they have
 * other ones, and the control plane that would publish them may be away. An unknown pod keeps its
 * old address.
 */
export function withLocalAddresses(
  state: ServiceState,
  addressOf: (podUid: string) => string | undefined,
): ServiceState {
  const corrected = (endpoint: Endpoint): Endpoint => {
    const uid = endpoint.targetRef?.uid
    const address = uid === undefined ? undefined : addressOf(uid)
    return address === undefined || address === endpoint.addresses[0]
      ? endpoint
      : { ...endpoint, addresses: [address] }
  }
  const slices = state.slices.map((slice): EndpointSlice => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).map(corrected),
  }))
  return { ...state, slices }
}
