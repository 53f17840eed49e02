import type { IncomingMessage } from 'node:http'
import { StatusError, checkDnsLabel } from '@skerry/api'
import type { ApiAnswer, Route } from '@skerry/apiserver'
import type { Clock, Logger } from '@skerry/base'
import { createTunnelServer, type TunnelLimits, type TunnelRegistry } from '@skerry/tunnel'
import { clusterOfAgent } from '../cluster/agent-identity.ts'
import { clusterResource } from '../cluster/cluster.ts'
import { classifyRequest } from '../traffic/classify-request.ts'
import type { TunnelsReport } from './tunnel-report.ts'

export const tunnelPrefix = '/tunnel/v1/clusters/'

export interface TunnelRouteDeps {
  readonly tunnels: TunnelRegistry
  /** What operators are told, wherever the tunnels end. */
  readonly describe: (cluster: string, signal: AbortSignal) => Promise<TunnelsReport>
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<TunnelLimits>
}

/**
 * `/tunnel/v1/clusters/<name>`: agents open their cluster's tunnel here by WebSocket, and only their
 * own; a plain GET tells operators what is open.
 */
export function tunnelRoute(deps: TunnelRouteDeps): Route {
  const { tunnels } = deps
  const admitted = new WeakMap<IncomingMessage, string>()
  const server = createTunnelServer(
    {
      registry: tunnels,
      ...(deps.limits ? { limits: deps.limits } : {}),
      async authenticate(request) {
        const identity = admitted.get(request)
        return identity === undefined ? { status: 401, reason: 'unknown agent' } : { identity }
      },
    },
    { clock: deps.clock, log: deps.log, classify: classifyRequest },
  )
  return {
    prefix: tunnelPrefix,
    attributes: (_info, target) => ({
      verb: 'get',
      isResourceRequest: true,
      resource: clusterResource,
      subresource: 'tunnel',
      name: clusterNameOf(target),
      namespace: '',
      path: '',
    }),
    async serve({ request, signal }) {
      return jsonAnswer(await deps.describe(clusterNameOf(request.target), signal))
    },
    async upgrade({ request, user }, { socket, head }) {
      const name = clusterNameOf(request.target)
      if (clusterOfAgent(user) !== name) {
        throw new StatusError(
          'Forbidden',
          `Cannot open tunnel of cluster "${name}": "${user.name}" is not its agent`,
        )
      }
      const { message } = request
      if (!message) throw new TypeError('Cannot upgrade: it did not come by HTTP/1.1')
      admitted.set(message, name)
      server.onUpgrade(message, socket, Buffer.from(head))
    },
  }
}

function clusterNameOf(target: string): string {
  const name = target.startsWith(tunnelPrefix) ? target.slice(tunnelPrefix.length) : ''
  if (checkDnsLabel(name).length === 0) return name
  throw new StatusError('BadRequest', 'Cannot find tunnel: the path names no cluster')
}

function jsonAnswer(value: unknown): ApiAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${JSON.stringify(value)}\n`),
  }
}
