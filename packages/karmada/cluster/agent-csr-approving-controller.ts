import type { CertificateSigningRequest } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import type { SigningRequest } from '@skerry/pki'
import { keyFingerprint } from '../registration/key-fingerprint.ts'
import { agentSigner, decided, readAgentRequest, verdictOf } from '../registration/agent-request.ts'
import { needsAcceptanceGroup, registrationKeys } from '../registration/registration-keys.ts'
import { bindToken } from '../registration/registration-token.ts'
import { agentUserName, agentsGroup, clusterOfAgent, clusterOfToken } from './agent-identity.ts'

export interface AgentApprovalOptions {
  /** No token registers by itself: a person accepts each agent. */
  readonly requiresAcceptance: boolean
}

/**
 * Approves what agents ask for themselves, first with their cluster's token, later as themselves. A
 * token is good for one key; who comes later with another one waits for a person, as does everybody
 * where that is asked for.
 */
export function agentCsrApprovingController({
  requiresAcceptance,
}: AgentApprovalOptions): ControllerDefinition {
  return {
    name: 'agent-csr-approving-controller',
    watches: [
      watch(resources.certificateSigningRequests, {
        keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
      }),
    ],
    async reconcile(key, context, signal) {
      const csr = context.informer(resources.certificateSigningRequests).get(parseKey(key))
      if (csr === undefined || csr.spec?.signerName !== agentSigner) return
      const verdict = verdictOf(csr)
      if (verdict === 'Denied') return
      const request = await readAgentRequest(csr)
      if (request === undefined || !isOwnRequest(csr, request)) return
      const fingerprint = keyFingerprint(request.publicKeyPem)
      if (verdict === 'Approved') return notePerson(csr, fingerprint, context, signal)
      const why = await reasonToWait(csr, { fingerprint, requiresAcceptance }, context, signal)
      if (why === undefined) await approve(csr, context, signal)
      else await letWait(csr, why, context, signal)
    },
  }
}

/** What a person has accepted has used its token, too. */
async function notePerson(
  csr: CertificateSigningRequest,
  fingerprint: string,
  { cluster }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (isTokens(csr)) await bindToken(cluster, { csr, fingerprint }, signal)
}

async function reasonToWait(
  csr: CertificateSigningRequest,
  { fingerprint, requiresAcceptance }: AgentApprovalOptions & { fingerprint: string },
  { cluster }: ControllerContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isTokens(csr)) return undefined
  if (requiresAcceptance) return 'this hub registers no agent that nobody has accepted'
  if (csr.spec?.groups?.includes(needsAcceptanceGroup)) return 'its token asks for acceptance'
  return bindToken(cluster, { csr, fingerprint }, signal)
}

/** Not an agent's own renewal. */
function isTokens({ spec }: CertificateSigningRequest): boolean {
  return clusterOfToken({ name: spec?.username ?? '', groups: spec?.groups ?? [] }) !== undefined
}

async function letWait(
  csr: CertificateSigningRequest,
  why: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', annotations = {} } = csr.metadata
  if (annotations[registrationKeys.waitsFor] === why) return
  const patch = { metadata: { annotations: { [registrationKeys.waitsFor]: why } } }
  const requests = context.client(resources.certificateSigningRequests)
  await requests.patch({ name, type: 'merge', patch }, signal)
  context.log.info('Agent waits to be accepted', { request: name, asker: csr.spec?.username })
}

/** Decides: who asks must be the agent that the certificate names, or hold its cluster's token. */
export function isOwnRequest(
  { spec }: CertificateSigningRequest,
  { commonName, organizations, ...names }: SigningRequest,
): boolean {
  const asker = { name: spec?.username ?? '', groups: spec?.groups ?? [] }
  const cluster = clusterOfAgent(asker) ?? clusterOfToken(asker)
  const usages = new Set(spec?.usages ?? [])
  const isComplete = usages.delete('client auth') && usages.delete('digital signature')
  usages.delete('key encipherment')
  const alternatives = [names.dnsNames, names.ipAddresses, names.emails, names.uris].flat()
  return (
    cluster !== undefined &&
    commonName === agentUserName(cluster) &&
    organizations.join() === agentsGroup &&
    alternatives.length === 0 &&
    isComplete &&
    usages.size === 0
  )
}

async function approve(
  csr: CertificateSigningRequest,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const decision = {
    type: 'Approved',
    reason: 'AutoApproved',
    message: 'The agent asked for its own certificate.',
  } as const
  const requests = context.client(resources.certificateSigningRequests)
  await requests.updateSubresource(decided(csr, decision, context.clock.now()), signal)
  context.log.info('Agent certificate approved', {
    request: csr.metadata.name,
    asker: csr.spec?.username,
  })
}
