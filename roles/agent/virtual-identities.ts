import { join } from 'node:path'
import { StatusError, isStatusError } from '@skerry/api'
import { ExpectedError } from '@skerry/base'
import {
  ensureDirectory,
  holdCertificate,
  inspectCertificateAndKey,
  isWithin,
  requestCertificate,
  type CertificateAndKey,
  type CertificateHolder,
} from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  type ClusterClient,
} from '@skerry/client'
import { agentUserName, virtualAgentGroup } from '@skerry/fleet-kinds'
import { registrationKeys } from '@skerry/membership'
import { isIssuedBy, validityOf } from '@skerry/pki'
import { pendingKey } from '../runtime/pending-key.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import type { AgentIdentity } from './agent-identity.ts'
import {
  createChildIdentities,
  type AskingChild,
  type ChildIdentities,
} from './child-identities.ts'
import { agentBounds } from './limits-table.ts'

export interface VirtualIdentitiesOptions {
  /** The directory of the whole cluster's own identity; those of its virtual clusters are in folders below. */
  readonly directory: string
  readonly clusterName: string
  /** The Secret that keeps the whole cluster's identity and those of its virtual clusters. */
  readonly identitySecret?: string | undefined
}

const { retryMs } = agentBounds.virtualIdentities

/**
 * Creates the identities of the virtual clusters at our hub. The whole cluster's agent requests each first
 * certificate, and another one if it has expired or was revoked; a valid one renews itself.
 */
export function createVirtualIdentities(
  { clusterName, ...own }: VirtualIdentitiesOptions,
  parts: { readonly local: ClusterClient; readonly parent: AgentIdentity },
  context: RoleContext,
): ChildIdentities {
  const asking = { parentName: clusterName, parent: parts.parent }
  return createChildIdentities(
    {
      ...own,
      retryMs,
      replacesRefused: true,
      obtain: (child, scope) => openVirtualIdentity(child, asking, scope),
    },
    parts,
    context,
  )
}

interface Asking {
  readonly parentName: string
  readonly parent: AgentIdentity
}

async function openVirtualIdentity(
  child: AskingChild,
  { parentName, parent }: Asking,
  context: RoleContext,
): Promise<AgentIdentity> {
  const { directory, isRefused } = child
  await ensureDirectory(directory)
  const { authorityPem } = parent
  // A certificate issued by a previous hub is not valid here.
  const isGood = (pem: string): boolean =>
    isWithin(validityOf(pem), context.clock.now()) && isIssuedBy(pem, authorityPem)
  const paths = {
    certificatePath: join(directory, 'agent.crt'),
    keyPath: join(directory, 'agent.key'),
    isGood: (pem: string) => !isRefused && isGood(pem),
    isReplaceable: true as const,
  }
  const { pair: present } = await inspectCertificateAndKey(paths)
  const held: { client?: CertificateHolder } = {}
  const next = async (signal: AbortSignal): Promise<CertificateAndKey> => {
    const current = held.client?.current
    const inUse = (current ?? present)?.privateKeyPem
    const privateKeyPem = await pendingKey(directory, inUse, context)
    const asker =
      current && isGood(current.certificatePem)
        ? { ...parent.transport, credentials: fixedCredentials(clientOf(current)) }
        : parent.transport
    using transport = createHttpsTransport(asker, context)
    const userAgent = `skerry/${version} (agent certificates)`
    const hub = createCluster(transport, { ...context, userAgent })
    return await requestFor(child, { hub, parentName, privateKeyPem }, context, signal)
  }
  const client = await holdCertificate(paths, next, context, context.signal)
  held.client = client
  const credentials = (scope: AbortSignal) => client.credentials(scope)
  return { authorityPem, client, transport: { ...parent.transport, credentials } }
}

interface RequestedBy {
  readonly hub: ClusterClient
  readonly parentName: string
  readonly privateKeyPem: string
}

/** Throws StatusError Forbidden where the hub does not give it one. */
async function requestFor(
  { name, onWaiting }: AskingChild,
  { hub, parentName, privateKeyPem }: RequestedBy,
  context: RoleContext,
  signal: AbortSignal,
): Promise<CertificateAndKey> {
  const request = {
    generateName: `${name}-`,
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['digital signature', 'client auth'],
    subject: { commonName: agentUserName(name), organizations: [virtualAgentGroup(parentName)] },
    privateKeyPem,
    annotations: { [registrationKeys.agentVersion]: version },
    onPending({ metadata }: { metadata: { annotations?: Record<string, string> } }) {
      const why = metadata.annotations?.[registrationKeys.waitsFor]
      if (why === undefined) return
      onWaiting(
        `virtual cluster "${name}" waits to be accepted: ${why}; "skerry cluster accept ${name}" on the hub lets it in`,
      )
    },
  }
  try {
    return await requestCertificate(hub, request, context, signal)
  } catch (error) {
    if (error instanceof ExpectedError) {
      throw new StatusError('Forbidden', error.message, { cause: error })
    }
    // Undecided requests are deleted after a while, which reveals nothing about the virtual cluster.
    if (!isStatusError(error, 'NotFound')) throw error
    throw new Error(`Cannot get certificate of "${name}": its request is gone`, { cause: error })
  }
}

function clientOf({ certificatePem, privateKeyPem }: CertificateAndKey) {
  return { certificate: certificatePem, key: privateKeyPem }
}
