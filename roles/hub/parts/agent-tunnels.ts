import { tunnelRoute } from '@skerry/gateway'
import type { HubPart } from '../contract/hub-part.ts'

/** Takes the tunnels that agents open. */
export function agentTunnels(): HubPart {
  return {
    routes({ server, connections, metrics, audit, context: { clock, log, onBytes } }) {
      return [
        tunnelRoute({
          registry: connections.own,
          describe: connections.clusters.describe,
          onOpened(cluster, session, agent) {
            connections.onOpened(session, agent)
            metrics.onOpened(cluster, session)
          },
          onBroken: audit.onBroken,
          answer: (request) => server.answer(request),
          onHandshake: (result) => metrics.onHandshake(result),
          replica: () => connections.replicas.self(),
          clock,
          log,
          ...(onBytes ? { onBytes } : {}),
        }),
      ]
    },
  }
}
