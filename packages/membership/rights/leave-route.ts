import { StatusError } from '@skerry/api'
import type { AuthorizedRequest, ApiAnswer, Authorizer, Route } from '@skerry/apiserver'
import type { Logger } from '@skerry/base'
import { clusterOfAgent } from '@skerry/fleet-kinds'

export const leavePath = '/hub/v1/leave'

export interface LeaveRouteDeps {
  /** Removes the cluster from the hub for good, and voids its credentials. May be called again. */
  readonly strikeOff: (cluster: string) => Promise<void>
  readonly log: Logger
}

/**
 * Serves `POST /hub/v1/leave`: an agent removes its own cluster from the hub, and cannot return by itself. An
 * agent may not delete its Cluster directly: it could recreate it without the taints and labels by which an
 * administrator restricts it.
 */
export function leaveRoute(deps: LeaveRouteDeps): Route {
  return { prefix: leavePath, serve: (admitted) => serve(admitted, deps) }
}

/** Allows every agent; the user determines the cluster. */
export const leaveAuthorizer: Authorizer = {
  async authorize({ user, isResourceRequest, verb, path }) {
    const isAllowed =
      !isResourceRequest &&
      verb === 'post' &&
      path === leavePath &&
      clusterOfAgent(user) !== undefined
    return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
  },
}

async function serve(
  { user, request }: AuthorizedRequest,
  deps: LeaveRouteDeps,
): Promise<ApiAnswer> {
  const cluster = clusterOfAgent(user)
  if (request.method !== 'POST' || cluster === undefined) {
    throw new StatusError('MethodNotAllowed', 'Cannot leave: only agents may ask for it, with POST')
  }
  await deps.strikeOff(cluster)
  deps.log.info('Cluster has left', { cluster })
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${JSON.stringify({ cluster })}\n`),
  }
}
