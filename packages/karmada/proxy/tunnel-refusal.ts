import { StatusError, type StatusDetails } from '@skerry/api'
import {
  BadMessageError,
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  TunnelUnavailableError,
} from '@skerry/tunnel'
import { clusterResource } from '../cluster/cluster.ts'

/** An agent that lost its way is back within seconds; one that was away for longer may stay away. */
const retryAfterSeconds = 2
const soonBackMs = 30_000

/** What a client is told when its request did not come through to the cluster. */
export function tunnelRefusal(cluster: string, error: unknown, nowMs: number): unknown {
  if (error instanceof TunnelUnavailableError) {
    const since =
      error.sinceMs === undefined
        ? ''
        : `, not connected since ${new Date(error.sinceMs).toISOString()}`
    // Clients repeat a request for minutes when told to come again: better to say at once how it is.
    const isSoonBack = error.sinceMs !== undefined && nowMs - error.sinceMs < soonBackMs
    const more = isSoonBack ? { retryAfterSeconds } : {}
    return unavailable(cluster, `${reasonOf(error)}${since}`, more)
  }
  if (error instanceof TunnelBusyError) {
    const details = { ...detailsOf(cluster, error.message), retryAfterSeconds: 1 }
    return new StatusError(
      'TooManyRequests',
      `Cannot reach cluster "${cluster}": its tunnel is full`,
      { details },
    )
  }
  if (error instanceof TunnelClosedError) {
    // Without Retry-After once it was sent: clients would repeat what may have been done.
    return unavailable(cluster, reasonOf(error), error.isSent ? {} : { retryAfterSeconds: 1 })
  }
  if (error instanceof TunnelStreamError) return unavailable(cluster, reasonOf(error), {})
  if (error instanceof BadMessageError) {
    return new StatusError('BadRequest', error.message, { code: error.status })
  }
  return error
}

function reasonOf({ message }: Error): string {
  return message.replace(/^Cannot [^:]*: /, '')
}

function unavailable(
  cluster: string,
  why: string,
  more: Pick<StatusDetails, 'retryAfterSeconds'>,
): StatusError {
  return new StatusError('ServiceUnavailable', `Cannot reach cluster "${cluster}": ${why}`, {
    details: { ...detailsOf(cluster, why), ...more },
  })
}

function detailsOf(cluster: string, message: string): StatusDetails {
  const { group, resource } = clusterResource
  return {
    name: cluster,
    group,
    kind: resource,
    causes: [{ reason: 'ClusterNotReachable', message }],
  }
}
