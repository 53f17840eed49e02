import type { IncomingMessage } from 'node:http'
import { StatusError, checkDnsLabel } from '@skerry/api'
import type { ApiAnswer, ApiRequest, Route } from '@skerry/apiserver'
import type { Clock, Logger } from '@skerry/base'
import {
  createTunnelServer,
  type HandshakeResult,
  type HubReplica,
  type TunnelLimits,
  type TunnelRegistry,
  type TunnelSession,
} from '@skerry/tunnel'
import { clusterOfAgent, clusterResource } from '@skerry/fleet-kinds'
import type { OnBrokenTunnel, TunnelOpener } from '../proxy/broken-tunnel-audit.ts'
import type { ConnectedClusters } from '../replicas/connected-clusters.ts'
import { holdsReplica } from '../replicas/replica-notice.ts'
import { agentFactsOf, type AgentFacts } from '../state/agent-facts.ts'
import { classifyRequest } from '../traffic/classify-request.ts'
import { gatewayBounds } from '../limits-table.ts'
import { agentRequests, type AnswerRequest } from './agent-requests.ts'

export const tunnelPrefix = '/tunnel/v1/clusters/'

export interface TunnelRouteDeps {
  /** Takes the tunnels that agents open here. */
  readonly registry: TunnelRegistry
  /** Describes tunnels for operators, on whichever replica they end. */
  readonly describe: ConnectedClusters['describe']
  /** Called when a tunnel has opened, before any request uses it. */
  readonly onOpened?: (cluster: string, session: TunnelSession, agent: AgentFacts) => void
  readonly onBroken?: OnBrokenTunnel
  /** Answers the requests that agents send through their tunnels. If omitted, they send none. */
  readonly answer?: AnswerRequest
  /** Returns this replica of the hub if there are several. If omitted, it is the only one. */
  readonly replica?: () => HubReplica | undefined
  /** Called with the result of an agent's handshake. */
  readonly onHandshake?: (result: HandshakeResult) => void
  readonly clock: Clock
  readonly log: Logger
  /** Receives the bytes of each message, in and out. */
  readonly onBytes?: (bytes: number) => void
  readonly limits?: Partial<TunnelLimits>
}

/**
 * Serves `/tunnel/v1/clusters/<name>`: agents open their own cluster's tunnel here over WebSocket; a plain
 * GET reports the open tunnels to operators.
 */
export function tunnelRoute(deps: TunnelRouteDeps): Route {
  const admitted = new WeakMap<IncomingMessage, Admission>()
  const server = tunnelServerOf(deps, admitted)
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
      const name = clusterNameOf(request.target)
      return jsonAnswer((await deps.describe([name], signal)).get(name))
    },
    async upgrade({ request, user, auditId }, { socket, head, onRefused }) {
      const name = clusterNameOf(request.target)
      if (clusterOfAgent(user) !== name) {
        deps.onHandshake?.('refused')
        throw new StatusError(
          'Forbidden',
          `Cannot open tunnel of cluster "${name}": "${user.name}" is not its agent`,
        )
      }
      const { message } = request
      if (!message) throw new TypeError('Cannot upgrade: the request did not arrive over HTTP/1.1')
      const agent = agentFactsOf(request)
      const { target: uri, headers } = request
      const userAgent = (headers['user-agent'] ?? '').slice(0, userAgentCharsMax)
      const opener = { cluster: name, user, auditId, uri, source: agent.address, userAgent }
      admitted.set(message, { agent, opener, peer: request.peer })
      const refused = await server.onUpgrade(message, socket, Buffer.from(head))
      if (refused !== undefined) onRefused?.(refused)
    },
  }
}

function tunnelServerOf(
  deps: TunnelRouteDeps,
  admitted: WeakMap<IncomingMessage, Admission>,
): ReturnType<typeof createTunnelServer> {
  const { registry } = deps
  return createTunnelServer(
    {
      registry,
      ...(deps.limits ? { limits: deps.limits } : {}),
      // The state of a cluster follows its tunnel: see cluster-monitor.ts of membership.
      offers: ['presence', ...(deps.answer ? (['requests'] as const) : [])],
      handlerOf(request) {
        const admission = admitted.get(request)
        return deps.answer && admission && agentRequests(deps.answer, admission.peer)
      },
      async authenticate(request) {
        const admission = admitted.get(request)
        if (admission && holdsReplica(request.headers, deps.replica?.()?.id)) {
          return { status: 409, reason: 'the agent has a tunnel to this replica' }
        }
        return admission
          ? { identity: admission.opener.cluster }
          : { status: 401, reason: 'unknown agent' }
      },
      onAccepted(request, session, cluster) {
        const admission = admitted.get(request)
        if (!admission) return
        const { agent, opener } = admission
        deps.onOpened?.(cluster, session, agent)
        void session.closed.then(() => {
          if (session.brokenRule !== undefined) deps.onBroken?.(opener, session)
        })
      },
      ...(deps.onHandshake ? { onHandshake: deps.onHandshake } : {}),
    },
    {
      clock: deps.clock,
      log: deps.log,
      classify: classifyRequest,
      ...(deps.onBytes ? { onBytes: deps.onBytes } : {}),
    },
  )
}

/** An upgrade that was authenticated as the cluster's own agent. */
interface Admission {
  readonly peer: ApiRequest['peer']
  readonly agent: AgentFacts
  readonly opener: TunnelOpener
}

const { userAgentCharsMax } = gatewayBounds.tunnelRoute

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
