import { isStatusError, type CertificateSigningRequest } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import type { SigningRequest } from '@skerry/pki'
import {
  agentsGroup,
  clusterOfAgent,
  clusterOfToken,
  isOpenToken,
  clusterResource,
} from '@skerry/fleet-kinds'
import { isOwnRequest } from './agent-csr-approving-controller.ts'
import { agentSigner, decided, readAgentRequest, verdictOf } from './agent-request.ts'
import { keyFingerprint } from './key-fingerprint.ts'
import { registrationKeys } from './registration-keys.ts'
import { voidTokenOf } from './registration-token.ts'
import { acceptVirtualAgent, virtualAgentAsked } from './virtual-agent-request.ts'
import { shownCharsMax } from '../limits-table.ts'

/** An agent that waits to be accepted under a name, as shown to the person who decides. */
export interface Registration {
  /** Name of the CertificateSigningRequest. */
  readonly request: string
  readonly cluster: string
  /** The source address of the request; empty if unknown. */
  readonly address: string
  /** The UID of its kube-system namespace and its version, as the asker claims, unproven. */
  readonly id: string
  readonly version: string
  /** The hash `sha256:<hex>` of the certificate's key; the agent logs the same. */
  readonly fingerprint: string
  /** RFC 3339. */
  readonly since: string
  /** Why it was not approved automatically. */
  readonly waitsFor: string
  /** Facts that a person should know before accepting; empty if there are none. */
  readonly warnings: readonly string[]
}

/** Lists all waiting registrations, the oldest first. */
export async function pendingRegistrations(
  hub: Pick<ClusterClient, 'resource'>,
  signal: AbortSignal,
): Promise<Registration[]> {
  const found = await pendingRequests(hub, signal)
  const shown = await Promise.all(
    found.map(async ({ cluster, fingerprint, csr }) => ({
      request: csr.metadata.name ?? '',
      cluster,
      address: cut(csr.spec?.extra?.[registrationKeys.sourceAddress]?.[0]),
      id: cut(csr.metadata.annotations?.[registrationKeys.clusterId]),
      version: cut(csr.metadata.annotations?.[registrationKeys.agentVersion]),
      fingerprint,
      since: csr.metadata.creationTimestamp ?? '',
      waitsFor: csr.metadata.annotations?.[registrationKeys.waitsFor] ?? '',
      knownId: await idOf(hub, cluster, signal),
    })),
  )
  return shown
    .map(({ knownId, ...one }) => ({ ...one, warnings: warningsOf(one, knownId, shown) }))
    .toSorted((a, b) => (a.since < b.since ? -1 : Number(a.since > b.since)))
}

export interface RegistrationDecision {
  /** Name of the request, from `pendingRegistrations`. */
  readonly request: string
  readonly accepts: boolean
  readonly nowMs: number
}

/** Accepts the agent, or rejects it and voids its token. Throws StatusError NotFound, Conflict. */
export async function decideRegistration(
  hub: Pick<ClusterClient, 'resource'>,
  { request: name, accepts, nowMs }: RegistrationDecision,
  signal: AbortSignal,
): Promise<void> {
  const requests = hub.resource(resources.certificateSigningRequests)
  const csr = await requests.get({ name }, signal)
  const decision = accepts
    ? ({ type: 'Approved', reason: 'Accepted', message: 'A person accepted the agent.' } as const)
    : ({ type: 'Denied', reason: 'Rejected', message: 'The hub rejected the agent.' } as const)
  const asked = await readAgentRequest(csr)
  const virtual = asked && virtualThatWaits(csr, asked)
  if (virtual === undefined && !accepts) await voidTokenOf(hub, { csr, nowMs }, signal)
  // The acceptance is recorded first, so that later requests need not wait again.
  if (virtual && accepts) await acceptVirtualAgent(hub, { cluster: virtual, nowMs }, signal)
  await requests.updateSubresource(decided(csr, decision, nowMs), signal)
}

interface PendingRequest {
  readonly csr: CertificateSigningRequest
  readonly cluster: string
  readonly fingerprint: string
}

async function pendingRequests(
  hub: Pick<ClusterClient, 'resource'>,
  signal: AbortSignal,
): Promise<PendingRequest[]> {
  const { items } = await hub.resource(resources.certificateSigningRequests).list({}, signal)
  const pending: PendingRequest[] = []
  for (const csr of items) {
    if (csr.spec?.signerName !== agentSigner || verdictOf(csr)) continue
    const request = await readAgentRequest(csr)
    if (request === undefined) continue
    const cluster = virtualThatWaits(csr, request) ?? clusterAskedBy(csr, request)
    if (cluster === undefined) continue
    pending.push({ csr, cluster, fingerprint: keyFingerprint(request.publicKeyPem) })
  }
  return pending
}

/** Returns the virtual cluster of a waiting request; undefined for requests that need no decision. */
function virtualThatWaits(
  csr: CertificateSigningRequest,
  request: SigningRequest,
): string | undefined {
  if (csr.metadata.annotations?.[registrationKeys.waitsFor] === undefined) return undefined
  return virtualAgentAsked(csr, request)?.cluster
}

function clusterAskedBy(
  csr: CertificateSigningRequest,
  request: SigningRequest,
): string | undefined {
  const asker = { name: csr.spec?.username ?? '', groups: csr.spec?.groups ?? [] }
  const isTokens = clusterOfToken(asker) !== undefined || isOpenToken(asker)
  if (!isTokens || !isOwnRequest(csr, request)) return undefined
  return clusterOfAgent({ name: request.commonName ?? '', groups: [agentsGroup] })
}

async function idOf(
  hub: Pick<ClusterClient, 'resource'>,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await hub.resource(clusterResource).get({ name }, signal)).spec.id
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

function warningsOf(
  one: Pick<Registration, 'request' | 'cluster' | 'id'>,
  knownId: string | undefined,
  all: readonly Pick<Registration, 'request' | 'cluster'>[],
): string[] {
  const others = all.filter((each) => each.cluster === one.cluster && each.request !== one.request)
  return [
    ...(others.length > 0 ? [`${others.length} more ask for this name`] : []),
    ...(knownId !== undefined && knownId === one.id ? ['registered already'] : []),
    ...(knownId !== undefined && knownId !== one.id
      ? [`another cluster is registered under this name, with id ${knownId}`]
      : []),
  ]
}

/** Shortens an asker's text for a table, and removes characters that a terminal would interpret. */
function cut(text = ''): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, shownCharsMax)
}
