import type { Endpoint, EndpointSlice } from '@skerry/api'
import type { ServiceState } from './service-snapshot.ts'

/**
 * The state with this node's own pods where they are now: after a reboot they have other addresses,
 * and the control plane that would say so may be away. A pod that is not known keeps its old one.
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
