import { isStatusError, type CertificateSigningRequest } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { validityOf, type SigningRequest } from '@skerry/pki'
import {
  agentUserName,
  agentsGroup,
  clusterOfAgent,
  clusterOfToken,
  isOpenToken,
  roleGeneratorName,
  type VirtualAgent,
  clusterResource,
} from '@skerry/fleet-kinds'
import { electionNamespace } from '../rights/karmada-agent.ts'
import {
  agentSigner,
  decided,
  isClientRequest,
  readAgentRequest,
  verdictOf,
  type Decision,
} from './agent-request.ts'
import { revocationsKey, revokedSince } from './agent-revocation.ts'
import { configMapData } from './config-map-data.ts'
import { keyFingerprint } from './key-fingerprint.ts'
import { needsAcceptanceGroup, registrationKeys } from './registration-keys.ts'
import { bindToken } from './registration-token.ts'
import {
  isRenewalOfVirtual,
  judgeVirtualAgent,
  noteExpiry,
  virtualAgentAsked,
} from './virtual-agent-request.ts'

export interface AgentApprovalOptions {
  /** True means that no token registers by itself: a person accepts each agent. */
  readonly requiresAcceptance: boolean
}

/**
 * Approves the certificates that agents request for themselves, first with their cluster's token, later as
 * themselves. A token is good for one key; a request with another key waits for a person, as do all requests
 * if acceptance is required.
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
      if (request === undefined) return
      if (isGeneratorRequest(csr, request)) {
        if (verdict === undefined) await prepareForKarmada(csr, context, signal)
        return
      }
      const virtual = virtualAgentAsked(csr, request)
      if (virtual !== undefined) return decideVirtual(csr, virtual, context, signal)
      if (!isOwnRequest(csr, request)) return denyMistaken(csr, request, context, signal)
      const fingerprint = keyFingerprint(request.publicKeyPem)
      if (verdict === 'Approved') return notePerson(csr, fingerprint, context, signal)
      const why = await reasonToWait(csr, { request, requiresAcceptance }, context, signal)
      if (why === undefined) await approve(csr, context, signal)
      else await letWait(csr, why, context, signal)
    },
  }
}

/** Decides on a virtual cluster's request, which first comes from its parent, and later from itself. */
async function decideVirtual(
  csr: CertificateSigningRequest,
  asked: VirtualAgent,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { cluster } = context
  const { certificate } = csr.status ?? {}
  if (certificate !== undefined) {
    const { notAfterMs } = validityOf(Buffer.from(certificate, 'base64').toString('utf8'))
    return noteExpiry(cluster, { cluster: asked.cluster, notAfterMs }, signal)
  }
  if (verdictOf(csr) !== undefined) return
  const isRenewal = isRenewalOfVirtual(csr)
  const judged = await judgeVirtualAgent(cluster, { asked, isRenewal }, signal)
  if (judged.verdict === 'approve') return approve(csr, context, signal)
  if (judged.verdict === 'wait') return letWait(csr, judged.why, context, signal)
  await deny(csr, { reason: notItsOwn, message: judged.why }, context, signal)
}

/**
 * Denies the request of an agent with another cluster's token, which would otherwise wait forever without an
 * error.
 */
async function denyMistaken(
  csr: CertificateSigningRequest,
  { commonName }: SigningRequest,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const own = clusterOfToken(askerOf(csr))
  const asked = clusterOfAgent({ name: commonName, groups: [agentsGroup] })
  if (own === undefined || asked === undefined || own === asked) return
  if (verdictOf(csr) !== undefined) return
  const message = `the token is for cluster "${own}", not "${asked}"; pass --name ${own}, or the token of "skerry cluster join-command ${asked}"`
  await deny(csr, { reason: notItsOwn, message }, context, signal)
}

const notItsOwn = 'NotItsOwn'

async function deny(
  csr: CertificateSigningRequest,
  { reason, message }: Omit<Decision, 'type'>,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const decision = { type: 'Denied', reason, message } as const
  const requests = context.client(resources.certificateSigningRequests)
  await requests.updateSubresource(decided(csr, decision, context.clock.now()), signal)
  const { name: request } = csr.metadata
  context.log.info('Agent certificate denied', { request, why: message })
}

/** Binds the token of a request that a person accepted. */
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
  { request, requiresAcceptance }: AgentApprovalOptions & { request: SigningRequest },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isTokens(csr)) return undefined
  if (requiresAcceptance) return 'this hub registers only accepted agents'
  if (csr.spec?.groups?.includes(needsAcceptanceGroup)) return 'its token asks for acceptance'
  if (isOpenToken(askerOf(csr)) && !(await isFree(request, context, signal))) {
    return 'its token names no cluster, and this one is registered'
  }
  const fingerprint = keyFingerprint(request.publicKeyPem)
  return bindToken(context.cluster, { csr, fingerprint }, signal)
}

/** Reports whether the request came with a token, rather than as an agent's own renewal. */
function isTokens(csr: CertificateSigningRequest): boolean {
  const asker = askerOf(csr)
  return clusterOfToken(asker) !== undefined || isOpenToken(asker)
}

function askerOf({ spec }: CertificateSigningRequest) {
  return { name: spec?.username ?? '', groups: spec?.groups ?? [] }
}

/** Reports whether the name is free. Otherwise a holder of such a token could become any cluster's agent. */
async function isFree(
  { commonName }: SigningRequest,
  { cluster }: ControllerContext,
  signal: AbortSignal,
): Promise<boolean> {
  const name = clusterOfAgent({ name: commonName, groups: [agentsGroup] }) ?? ''
  try {
    await cluster.resource(clusterResource).get({ name }, signal)
    return false
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return true
    throw error
  }
}

/** An agent of Karmada's will follow: it elects its leader there. */
async function prepareForKarmada(
  csr: CertificateSigningRequest,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: electionNamespace } }
  try {
    await context.cluster.resource(resources.namespaces).create(namespace, signal)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
  await approve(csr, context, signal)
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

/**
 * Reports whether the request's user is the agent that the certificate names, or holds its cluster's token,
 * or one that names no cluster.
 */
export function isOwnRequest(csr: CertificateSigningRequest, request: SigningRequest): boolean {
  const asker = askerOf(csr)
  const cluster =
    clusterOfAgent(asker) ??
    clusterOfToken(asker) ??
    (isOpenToken(asker)
      ? clusterOfAgent({ name: request.commonName ?? '', groups: [agentsGroup] })
      : undefined)
  return cluster !== undefined && isAgents(csr, request, agentUserName(cluster))
}

/**
 * Reports whether the request is from `karmadactl register`. The certificate then allows next to nothing: see
 * roleGeneratorAuthorizer.
 */
function isGeneratorRequest(csr: CertificateSigningRequest, request: SigningRequest): boolean {
  return isTokens(csr) && isAgents(csr, request, roleGeneratorName)
}

function isAgents(csr: CertificateSigningRequest, request: SigningRequest, commonName: string) {
  return isClientRequest(csr.spec?.usages ?? [], request, { commonName, organization: agentsGroup })
}

/** Approves the request, unless the agent was revoked after it made the request. */
async function approve(
  csr: CertificateSigningRequest,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const revocations = await configMapData(context.cluster, revocationsKey, signal)
  const revoked = revokedSince(csr, revocations, context.clock.now())
  if (revoked !== undefined) {
    const message = `the agent of cluster "${revoked}" was revoked after this was asked`
    return deny(csr, { reason: 'Revoked', message }, context, signal)
  }
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
