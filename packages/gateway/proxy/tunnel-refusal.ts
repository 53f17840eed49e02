import { StatusError, type StatusDetails } from '@skerry/api'
import { PeerAnswerError } from '@skerry/base'
import {
  BadMessageError,
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  TunnelUnavailableError,
} from '@skerry/tunnel'
import { clusterResource } from '@skerry/fleet-kinds'
import { gatewayBounds } from '../limits-table.ts'

const { retryAfterSeconds, soonBackMs, lookAgainMs } = gatewayBounds.tunnelRefusal

/** The refused request and the current time. */
export interface RefusedRequest {
  readonly cluster: string
  readonly auditId: string
  readonly nowMs: number
  /**
   * The time from which the Cluster reports that it is not connected, for a hub that has not seen it
   * disconnect.
   */
  readonly awaySinceMs?: number | undefined
}

/** Returns the error for a client whose request did not reach the cluster. */
export function tunnelRefusal(asked: RefusedRequest, error: unknown): unknown {
  if (error instanceof TunnelUnavailableError) return notConnected(asked, error)
  if (error instanceof TunnelBusyError) {
    const details = { ...detailsOf(asked.cluster, error.message), retryAfterSeconds: 1 }
    const text = `Cannot reach cluster "${asked.cluster}": its tunnel is full`
    return new StatusError('TooManyRequests', text, { details })
  }
  if (error instanceof TunnelClosedError) {
    // A request that was sent gets no Retry-After: clients would repeat an operation that may have been
    // carried out.
    return unavailable(asked, reasonOf(error), error.isSent ? {} : { retryAfterSeconds: 1 })
  }
  if (error instanceof TunnelStreamError) return unavailable(asked, reasonOf(error), {})
  if (error instanceof PeerAnswerError) {
    const { cluster, auditId } = asked
    const text = `Cannot use the answer of cluster "${cluster}": ${error.fault} (request ${auditId})`
    return new StatusError('Unknown', text, { code: 502, details: detailsOf(cluster, error.fault) })
  }
  if (error instanceof BadMessageError) {
    return new StatusError('BadRequest', error.message, { code: error.status })
  }
  return error
}

/**
 * Returns the error for a cluster without a tunnel. Kubernetes' clients repeat a request for minutes if
 * Retry-After is a number of seconds, which suits an agent that reconnects soon. Otherwise the header holds a
 * date (RFC 9110, 10.2.3), which these clients ignore, so that users see the error at once.
 */
function notConnected(asked: RefusedRequest, error: TunnelUnavailableError): StatusError {
  const { nowMs, awaySinceMs } = asked
  const sinceMs = error.sinceMs ?? awaySinceMs
  if (sinceMs === undefined) return unavailable(asked, reasonOf(error), {}, lookAgainAt(nowMs))
  const why =
    error.sinceMs === undefined ? 'no agent has connected since the hub started' : reasonOf(error)
  const text = `${why}, not connected since ${new Date(sinceMs).toISOString()}`
  return nowMs - sinceMs < soonBackMs
    ? unavailable(asked, text, { retryAfterSeconds })
    : unavailable(asked, text, {}, lookAgainAt(nowMs))
}

function lookAgainAt(nowMs: number): Record<string, string> {
  return { 'retry-after': new Date(nowMs + lookAgainMs).toUTCString() }
}

function reasonOf({ message }: Error): string {
  return message.replace(/^Cannot [^:]*: /, '')
}

function unavailable(
  { cluster, auditId }: RefusedRequest,
  why: string,
  more: Pick<StatusDetails, 'retryAfterSeconds'>,
  headers: Readonly<Record<string, string>> = {},
): StatusError {
  const text = `Cannot reach cluster "${cluster}": ${why} (request ${auditId})`
  return new StatusError('ServiceUnavailable', text, {
    details: { ...detailsOf(cluster, why), ...more },
    headers,
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
