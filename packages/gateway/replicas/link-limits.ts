import type { TunnelLimits } from '@skerry/tunnel'
import { userStreamDefaults } from '../proxy/user-streams.ts'

/**
 * Of the link between two replicas, at both of its ends. One link carries what is open to all clusters whose
 * tunnels end at the other replica, of which each has bounds of its own; so no user fills it alone.
 */
export const linkLimits: Readonly<Partial<TunnelLimits>> = Object.freeze({
  streamsMax: 2 * userStreamDefaults.inAll,
})
