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
import { runAgent } from '../../agent/agent.ts'
import type { DialOptions } from '../../agent/allowed-dials.ts'
import { localServer } from '../../control-plane/local-server.ts'
import type { OpenPlane } from '../../control-plane/plane-part.ts'
import type { WayFlags } from '../../runtime/way-options.ts'
import { connectBy } from '../../runtime/way-to-hub.ts'
import { whileReady } from '../masters/while-ready.ts'
import { ensureAgentObjects, localAgentUser } from '../objects/agent-objects.ts'
import { siteUser } from './site-user.ts'

export interface SiteAgentOptions {
  dataDir: string
  /** Name of the site, and of its Cluster on the hub. */
  name: string
  /** The hub's URL, https://host:port. */
  hub: string
  /** Both needed the first time only. */
  hubTokenFile?: string | undefined
  hubCaHash?: string | undefined
  /** The way to the hub. If omitted, direct, or as the environment sets it. */
  way?: WayFlags
  /** The users whom the agent may impersonate. If omitted, everybody whom the hub names. */
  policy?: ImpersonationPolicy | undefined
  /** The site's place and labels. If omitted, its Cluster has none. */
  place?: AgentPlace | undefined
  /** The services that the hub may reach. If omitted, none. */
  services?: readonly AllowedService[]
  /** The machines that the hub may dial. If omitted, none. */
  dials?: DialOptions
  /** True applies the hub's Works for this cluster. */
  appliesWorks?: boolean | undefined
  /** True makes groups of the site's nodes clusters of their own. */
  hasVirtualClusters?: boolean | undefined
}

/**
 * Runs the agent that connects a site to its hub, in the site's own process. The site never waits for it. `isShared` is
 * true if the site may have other masters, each with an agent.
 */
export async function runSiteAgent(
  options: SiteAgentOptions,
  { objects, server, pki, time, context }: OpenPlane,
  signal: AbortSignal,
  isShared: boolean,
): Promise<void> {
  await ensureAgentObjects(objects, options)
  try {
    await runAgent(
      {
        directory: join(options.dataDir, 'agent'),
        hub: options.hub,
        clusterName: options.name,
        enrolment: {
          tokenFile: options.hubTokenFile,
          tokenText: undefined,
          caHash: options.hubCaHash,
        },
        ...(options.policy ? { policy: options.policy } : {}),
        ...(await connectBy({ ...options.way, hub: options.hub }, context)),
        ...(options.place ? { place: options.place } : {}),
        services: options.services,
        ...(options.dials ? { dials: options.dials } : {}),
        appliesWorks: options.appliesWorks,
        hasVirtualClusters: options.hasVirtualClusters,
        ...(isShared ? { listeners: { gate: gateOf(server, context) } } : {}),
        api: {
          server: localServer(server.address),
          certificateAuthority: pki.authority.certificatePem,
          credentials: localCredentials(pki.authority, time),
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

/**
 * Each of several masters has a tunnel of its own, and the hub uses the newest: one that has lost the store closes its
 * tunnel, so that the hub asks another.
 */
function gateOf(
  server: OpenPlane['server'],
  { clock, log }: OpenPlane['context'],
): (represent: Task) => Task {
  const transport = server.transport(siteUser)
  const onLost = (): void => log.info('Tunnel closed: this master is not ready')
  return (represent) => (signal) => whileReady({ transport, clock, onLost }, represent, signal)
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
