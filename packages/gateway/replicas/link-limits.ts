import type { TunnelLimits } from '@skerry/tunnel'
import { userStreamDefaults } from '../proxy/user-streams.ts'

/**
 * Bounds the link between two replicas, at both of its ends. One link carries the requests to all clusters
 * whose tunnels end at the other replica. Each user has bounds of their own, so no single user fills it.
 */
export const linkLimits: Readonly<Partial<TunnelLimits>> = Object.freeze({
  streamsMax: 2 * userStreamDefaults.inAll,
})
