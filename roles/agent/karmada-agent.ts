import { runAll } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  type ClusterClient,
  type HttpsTransportConfig,
} from '@skerry/client'
import { clusterIdOf, runClusterReporter, type ReportedRound } from '@skerry/cluster-agent'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import type { AgentIdentity } from './agent-identity.ts'
import { openMetricsServer } from './agent-metrics-server.ts'
import type { AgentPodOptions } from './agent-pod.ts'
import { agentWorks, openVirtual } from './agent-works.ts'
import type { ChildIdentities } from './child-identities.ts'
import { createIdentitySecret, type IdentitySecret } from './identity-secret.ts'
import { createKarmadaIdentities } from './karmada-identities.ts'
import { openKarmadaIdentity } from './karmada-identity.ts'
import { openProbes } from './probe-server.ts'
import { openObserver } from './open-observer.ts'
import { untilRegistered } from './until-registered.ts'

type Shared =
  | 'directory'
  | 'clusterName'
  | 'enrolment'
  | 'api'
  | 'connect'
  | 'place'
  | 'hasVirtualClusters'
  | 'identitySecret'
  | 'probePort'
  | 'metricsAddress'

export interface KarmadaAgentOptions extends Pick<AgentPodOptions, Shared> {
  /** The Karmada API server at which to register with a token, or an identity that already exists. */
  karmada: { readonly server: string } | { readonly transport: HttpsTransportConfig }
  /** Called after each round with the state reported to Karmada. */
  onRound?: (round: ReportedRound) => void
}

/**
 * A pull agent of Karmada's control plane: it registers the cluster, reports it and applies its Works, until
 * the signal aborts. It opens no way into the cluster.
 */
export async function runKarmadaAgent(
  options: KarmadaAgentOptions,
  context: RoleContext,
): Promise<void> {
  const { clock, random, log } = context
  const { karmada, clusterName: name, probePort, metricsAddress } = options
  const { labels, ...place } = options.place ?? {}
  const told = { isReported: false }
  await using _probes =
    probePort === undefined ? undefined : await openProbes(probePort, () => told.isReported, log)
  await using _metrics = metricsAddress
    ? await openMetricsServer(metricsAddress, context.metrics, log)
    : undefined
  const userAgent = `skerry/${version} (agent)`
  using localTransport = createHttpsTransport(options.api, { clock })
  const local = createCluster(localTransport, { log, clock, userAgent })
  const kept = keptIn(options, local, context)
  await kept?.restore(context.signal)
  const identity = await ownIdentity(options, local, context)
  const transport = 'transport' in karmada ? karmada.transport : identity?.transport
  if (transport === undefined) throw new TypeError('Cannot run agent: it has no identity')
  using hubTransport = createHttpsTransport(transport, { clock })
  const hub = createCluster(hubTransport, { log, clock, userAgent })
  const observer = openObserver(local, options.api, context)
  const each = identity && identitiesOf(options, { local, parent: identity }, context)
  const identityOf = each?.identityOf ?? (() => ({ hub }))
  const { virtual, tasks } = await openVirtual(
    options,
    { hub, local, observer, identityOf, isFollowed: false },
    context,
  )
  const reporting = {
    name,
    place,
    ...(labels ? { labels } : {}),
    onRound(round: ReportedRound) {
      told.isReported = round.cluster !== undefined
      options.onRound?.(round)
    },
  }
  await runAll(context.signal, [
    ...(identity ? [(scope: AbortSignal) => identity.client.run(scope)] : []),
    ...(each ? [each.run] : []),
    ...(identity && kept ? [kept.keep(identity)] : []),
    (scope) => observer.run(scope),
    ...tasks,
    (scope) => runClusterReporter(reporting, { hub, observer, clock, random, log }, scope),
    ...agentWorks(
      { clusterName: name, appliesWorks: true, edgeApps: [], virtual },
      { hub, local },
      context,
    ),
  ])
}

function keptIn(
  { karmada, identitySecret: secret, directory }: KarmadaAgentOptions,
  local: ClusterClient,
  context: RoleContext,
): IdentitySecret | undefined {
  if (secret === undefined || 'transport' in karmada) return undefined
  return createIdentitySecret({ local, secret, directory }, context)
}

/** Returns the identities of its virtual clusters; undefined if it has none. */
function identitiesOf(
  options: KarmadaAgentOptions,
  parts: { readonly local: ClusterClient; readonly parent: AgentIdentity },
  context: RoleContext,
): ChildIdentities | undefined {
  const { karmada, hasVirtualClusters } = options
  if (hasVirtualClusters !== true || 'transport' in karmada) return undefined
  const readClusterId = (signal: AbortSignal) => clusterIdOf(parts.local, signal)
  const asked = { ...options, ...options.enrolment, server: karmada.server, readClusterId }
  return createKarmadaIdentities(asked, parts, context)
}

async function ownIdentity(
  options: KarmadaAgentOptions,
  local: ClusterClient,
  context: RoleContext,
): Promise<AgentIdentity | undefined> {
  const { karmada } = options
  if ('transport' in karmada) return undefined
  const readClusterId = (signal: AbortSignal) => clusterIdOf(local, signal)
  const asked = { ...options, ...options.enrolment, server: karmada.server, readClusterId }
  return untilRegistered(karmada.server, () => openKarmadaIdentity(asked, context), context)
}
