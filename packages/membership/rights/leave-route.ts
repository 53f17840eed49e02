import { StatusError } from '@skerry/api'
import type { AuthorizedRequest, ApiAnswer, Authorizer, Route } from '@skerry/apiserver'
import type { Logger } from '@skerry/base'
import { clusterOfAgent } from '@skerry/fleet-kinds'

export const leavePath = '/hub/v1/leave'

export interface LeaveRouteDeps {
  /** Takes the cluster off the hub for good: what it had there is void. May be called again. */
  readonly strikeOff: (cluster: string) => Promise<void>
  readonly log: Logger
}

/**
 * `POST /hub/v1/leave`: an agent takes its own cluster off the hub, and can no more come back by itself. An
 * agent may not delete its Cluster as such: it could make it anew, without the taints and labels by which
 * an administrator keeps something from it.
 */
export function leaveRoute(deps: LeaveRouteDeps): Route {
  return { prefix: leavePath, serve: (admitted) => serve(admitted, deps) }
}

/** Every agent for itself: which cluster it is about is told by who asks. */
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
    throw new StatusError('MethodNotAllowed', 'Cannot leave: agents ask for it, by POST')
  }
  await deps.strikeOff(cluster)
  deps.log.info('Cluster has left', { cluster })
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${JSON.stringify({ cluster })}\n`),
  }
}
