import { createCluster, createHttpsTransport } from '@skerry/client'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { openMetricsServer, type MetricsAddress } from './agent-metrics-server.ts'
import { runAgent, type AgentOptions } from './agent.ts'
import { createIdentitySecret } from './identity-secret.ts'
import { openProbes } from './probe-server.ts'

export interface AgentPodOptions extends AgentOptions {
  /** The port of /livez and /readyz. If omitted, they are not served. */
  probePort?: number
  /** The address at which /metrics is served over HTTP. If omitted, it is not served. */
  metricsAddress?: MetricsAddress
}

/** Runs an agent with what a pod needs in addition, until the signal aborts. */
export async function runAgentPod(options: AgentPodOptions, context: RoleContext): Promise<void> {
  const tunnels = { count: 0 }
  const { probePort, identitySecret: secret, directory } = options
  await using _probes =
    probePort === undefined
      ? undefined
      : await openProbes(probePort, () => tunnels.count > 0, context.log)
  const { metricsAddress } = options
  await using _metrics = metricsAddress
    ? await openMetricsServer(metricsAddress, context.metrics, context.log)
    : undefined
  using transport = createHttpsTransport(options.api, context)
  const { log, clock } = context
  const local = createCluster(transport, { log, clock, userAgent: `skerry/${version} (agent)` })
  const kept =
    secret === undefined ? undefined : createIdentitySecret({ local, secret, directory }, context)
  await kept?.restore(context.signal)
  await runAgent(
    {
      ...options,
      listeners: {
        ...options.listeners,
        ...(kept ? { onIdentity: (identity) => kept.keep(identity) } : {}),
        onOpen(count) {
          tunnels.count = count
          options.listeners?.onOpen?.(count)
        },
      },
    },
    context,
  )
}
