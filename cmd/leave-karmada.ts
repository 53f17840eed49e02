import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import { createCluster, createHttpsTransport, type HttpsTransportConfig } from '@skerry/client'
import { leaveFleet } from '@skerry/karmada'
import { openKarmadaIdentity, type KarmadaIdentityOptions } from './karmada-identity.ts'
import type { RoleContext } from './role-context.ts'
import { version } from './version.ts'

export interface LeaveKarmadaOptions extends Pick<KarmadaIdentityOptions, 'connect'> {
  /** Where the agent has kept its identity; it has ended. */
  directory: string
  /** https://host:port of Karmada's API server. */
  server: string
  clusterName: string
  /** The cluster's own API server. */
  api: HttpsTransportConfig
  keepsObjects: boolean
  onWaiting?: (what: string) => void
}

/** What the agent has in its data directory. */
const files = Object.freeze(['agent.crt', 'agent.key', 'agent-next.key', 'ca.crt'])

/** Takes the cluster out of Karmada by the agent's own identity, which goes last. */
export async function leaveKarmada(
  options: LeaveKarmadaOptions,
  context: RoleContext,
): Promise<void> {
  const { directory, clusterName, keepsObjects, onWaiting } = options
  if ((await readFileIfPresent(join(directory, 'agent.crt'))) === undefined) {
    throw new ExpectedError(
      `Cannot leave: there is no identity in ${directory}; pass the agent's --data-dir, or use "karmadactl unregister ${clusterName}"`,
      exitCodes.usage,
    )
  }
  const userAgent = `skerry/${version} (agent)`
  const { log, clock } = context
  using localTransport = createHttpsTransport(options.api)
  const local = createCluster(localTransport, { log, clock, userAgent })
  const asked = { ...options, tokenFile: undefined, tokenText: undefined, caHash: undefined }
  const readClusterId = async () => ''
  const { transport } = await openKarmadaIdentity({ ...asked, readClusterId }, context)
  using hubTransport = createHttpsTransport(transport)
  const hub = createCluster(hubTransport, { log, clock, userAgent })
  const leaving = { clusterName, keepsObjects, ...(onWaiting ? { onWaiting } : {}) }
  await leaveFleet(leaving, { ...context, hub, local }, context.signal)
  for (const name of files) await rm(join(directory, name), { force: true })
}
