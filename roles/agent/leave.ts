import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isStatusError } from '@skerry/api'
import { ExpectedError, createBackoff, exitCodes } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  readBody,
  type ClusterClient,
  type HttpsTransport,
  type HttpsTransportConfig,
} from '@skerry/client'
import { leadingAgent, leaveFleet } from '@skerry/cluster-agent'
import { virtualClusterFinalizer, virtualClusterResource } from '@skerry/fleet-kinds'
import { deleteKarmadaRights, leavePath } from '@skerry/membership'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { openAgentIdentity } from './agent-identity.ts'
import { createIdentitySecret, type IdentitySecret } from './identity-secret.ts'
import { openKarmadaIdentity, type KarmadaIdentityOptions } from './karmada-identity.ts'
import { agentBounds } from './limits-table.ts'

export interface LeaveOptions extends Pick<KarmadaIdentityOptions, 'connect'> {
  /** The control plane that it leaves, as https://host:port. */
  from: { readonly karmada: string } | { readonly hub: string }
  /** The directory of the agent's identity, into which a Secret's is copied. */
  directory: string
  /** The Secret as `namespace/name` in the cluster. If omitted, only the directory has the identity. */
  identitySecret?: string | undefined
  clusterName: string
  /** The cluster's own API server. */
  api: HttpsTransportConfig
  keepsObjects: boolean
  onWaiting?: (what: string) => void
}

export interface Left {
  /** False: the agent's rights are still there, as it may not delete them. */
  readonly rightsAreGone: boolean
}

/** The agent's files in its data directory. */
const files = Object.freeze([
  'agent.crt',
  'agent.key',
  'agent.key.next',
  'agent-next.key',
  'agent.previous.crt',
  'agent.previous.key',
  'agent.previous.key.next',
  'ca.crt',
])

/**
 * Removes the cluster from a fleet with its agent's own identity, which is deleted last. Waits until the
 * agent has stopped, because it would register again. Throws ExpectedError if something must be done first.
 */
export async function leave(options: LeaveOptions, context: RoleContext): Promise<Left> {
  const { directory, clusterName, keepsObjects, onWaiting, from } = options
  const { log, clock, signal } = context
  const userAgent = `skerry/${version} (agent)`
  using localTransport = createHttpsTransport(options.api, { clock })
  const local = createCluster(localTransport, { log, clock, userAgent })
  const secret = secretOf(options, local, context)
  await secret?.restore(signal)
  await checkIdentity(options)
  await checkVirtualClusters(local, signal)
  await untilAway(options, local, context)
  using hubTransport = createHttpsTransport(await wayOf(options, context), { clock })
  const hub = createCluster(hubTransport, { log, clock, userAgent })
  const leaving = { clusterName, keepsObjects, ...(onWaiting ? { onWaiting } : {}) }
  const striking =
    'hub' in from
      ? { strikeOff: (scope: AbortSignal) => strikeOff(from.hub, hubTransport, scope) }
      : {}
  await leaveFleet(leaving, { ...context, hub, local, ...striking }, signal)
  const rightsAreGone = 'hub' in from || (await deleteKarmadaRights(hub, clusterName, signal))
  await secret?.clear(signal)
  for (const name of files) await rm(join(directory, name), { force: true })
  // The directory is empty by now: its virtual clusters were removed before.
  await rm(join(directory, 'clusters'), { recursive: true, force: true })
  return { rightsAreGone }
}

function secretOf(
  { identitySecret, directory }: LeaveOptions,
  local: ClusterClient,
  context: RoleContext,
): IdentitySecret | undefined {
  if (identitySecret === undefined) return undefined
  return createIdentitySecret({ local, secret: identitySecret, directory }, context)
}

async function checkIdentity({ directory, identitySecret, from, clusterName }: LeaveOptions) {
  if ((await readFileIfPresent(join(directory, 'agent.crt'))) !== undefined) return
  const other =
    'hub' in from
      ? `"skerry cluster revoke ${clusterName} --delete" on the hub`
      : `"karmadactl unregister ${clusterName}"`
  throw new ExpectedError(
    `Cannot leave: there is no identity in ${identitySecret ?? directory}; pass the agent's --data-dir or --identity-secret, or use ${other}`,
    exitCodes.usage,
  )
}

/** Refuses while virtual clusters exist, because only the agent dismantles them. */
async function checkVirtualClusters(local: ClusterClient, signal: AbortSignal): Promise<void> {
  const found = await local
    .resource(virtualClusterResource)
    .list({}, signal)
    .catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error
    })
  const names = (found?.items ?? [])
    .filter(({ metadata }) => metadata.finalizers?.includes(virtualClusterFinalizer))
    .map(({ metadata }) => metadata.name ?? '')
  if (names.length === 0) return
  const shown = names.slice(0, 3).join(', ')
  const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
  throw new ExpectedError(
    `Cannot leave: the cluster has virtual clusters: ${shown}${more}; while its agent runs, delete its VirtualClusterSets and VirtualClusters, then stop the agent`,
    exitCodes.usage,
  )
}

async function untilAway(
  { clusterName, onWaiting = () => {} }: LeaveOptions,
  local: ClusterClient,
  { clock, random, signal }: RoleContext,
): Promise<void> {
  const backoff = createBackoff(agentBounds.leave.look, random)
  for (let told = ''; ;) {
    const leader = await leadingAgent(clusterName, { local, clock }, signal)
    if (leader === undefined) return
    if (leader !== told) onWaiting(`its agent to end: ${leader} runs, stop it`)
    told = leader
    await clock.sleep(backoff.nextMs(), signal)
  }
}

async function wayOf(options: LeaveOptions, context: RoleContext): Promise<HttpsTransportConfig> {
  const asked = { ...options, tokenFile: undefined, tokenText: undefined, caHash: undefined }
  const { from } = options
  if ('hub' in from) {
    return (await openAgentIdentity({ ...asked, hub: from.hub }, context)).transport
  }
  const readClusterId = async () => ''
  const opened = await openKarmadaIdentity(
    { ...asked, server: from.karmada, readClusterId },
    context,
  )
  return opened.transport
}

async function strikeOff(hub: string, to: HttpsTransport, signal: AbortSignal): Promise<void> {
  const request = { method: 'POST', path: leavePath, headers: {} } as const
  const answer = await to.send(request, signal)
  const text = (await readBody(answer.body)).toString('utf8')
  if (answer.status === 200) return
  throw new ExpectedError(
    `Cannot leave ${hub}: it answers ${answer.status} ${text.slice(0, 512)}; its administrator may use "skerry cluster revoke --delete"`,
    exitCodes.failure,
  )
}
