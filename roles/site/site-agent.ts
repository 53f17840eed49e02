import { join } from 'node:path'
import { ExpectedError, type Task } from '@skerry/base'
import {
  isFresh,
  issueClientCertificate,
  type IssuerTime,
  type ValidityPeriod,
} from '@skerry/bootstrap'
import type { CredentialSource } from '@skerry/client'
import type { AgentPlace, AllowedService } from '@skerry/fleet-kinds'
import type { ImpersonationPolicy } from '@skerry/membership'
import { readCertificate, type Authority } from '@skerry/pki'
import { runAgent } from '../agent/agent.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { localServer } from '../control-plane/local-server.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import type { WayFlags } from '../runtime/way-options.ts'
import { connectBy } from '../runtime/way-to-hub.ts'
import { ensureAgentObjects, localAgentUser } from './agent-objects.ts'

export interface SiteAgentOptions extends WayFlags {
  dataDir: string
  /** Name of the site, and of its Cluster on the hub. */
  name: string
  /** The hub's URL, https://host:port. */
  hub: string
  hubTokenFile: string | undefined
  hubCaHash: string | undefined
  /** The users whom it may impersonate. If omitted, everybody whom the hub names. */
  policy: ImpersonationPolicy | undefined
  /** Its place and labels. If omitted, its Cluster has none. */
  place?: AgentPlace | undefined
  /** The services that the hub may reach. */
  services: readonly AllowedService[]
  appliesWorks: boolean | undefined
  hasVirtualClusters: boolean | undefined
}

/** The agent that connects a site to its hub, in the site's own process. The site never waits for it. */
export function siteAgentTask(
  options: SiteAgentOptions,
  plane: ControlPlane,
  context: RoleContext,
): Task {
  return async (signal) => {
    await ensureAgentObjects(plane.objects, options)
    const { labels, ...place } = options.place ?? {}
    try {
      await runAgent(
        {
          directory: join(options.dataDir, 'agent'),
          hub: options.hub,
          clusterName: options.name,
          tokenFile: options.hubTokenFile,
          tokenText: undefined,
          caHash: options.hubCaHash,
          ...(options.policy ? { policy: options.policy } : {}),
          ...(await connectBy(options, context)),
          place,
          ...(labels ? { labels } : {}),
          services: options.services,
          appliesWorks: options.appliesWorks,
          hasVirtualClusters: options.hasVirtualClusters,
          api: {
            server: localServer(plane.server.address),
            certificateAuthority: plane.pki.authority.certificatePem,
            credentials: localCredentials(plane.pki.authority, plane.time),
          },
        },
        { ...context, signal },
      )
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error
      // A wrong token is for a person to put right; the site and its pods go on without a hub.
      context.log.error('Site is not connected to its hub', { error })
    }
  }
}

/**
 * Returns credentials that the site itself issues, again in time and when the clock was set, and keeps only
 * in memory.
 */
function localCredentials(authority: Authority, time: IssuerTime): CredentialSource {
  let held: { certificate: string; key: string; period: ValidityPeriod } | undefined
  return async () => {
    if (held && isFresh(held.period, time.now())) return held
    const subject = { commonName: localAgentUser }
    const { certificatePem, privateKeyPem } = await issueClientCertificate(
      authority,
      { subject },
      time,
    )
    held = {
      certificate: certificatePem,
      key: privateKeyPem,
      period: readCertificate(certificatePem),
    }
    return held
  }
}
