import type { CertificateSigningRequest } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { readSigningRequest, type SigningRequest } from '@skerry/pki'
import { agentUserName, agentsGroup, clusterOfAgent, clusterOfToken } from './agent-identity.ts'
import { apiTime } from './conditions.ts'

const signer = 'kubernetes.io/kube-apiserver-client'

/** Approves what agents ask for themselves, first with their cluster's token, later as themselves. */
export const agentCsrApprovingController: ControllerDefinition = {
  name: 'agent-csr-approving-controller',
  watches: [
    watch(resources.certificateSigningRequests, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
  ],
  async reconcile(key, context, signal) {
    const csr = context.informer(resources.certificateSigningRequests).get(parseKey(key))
    if (csr === undefined || hasVerdict(csr) || csr.spec?.signerName !== signer) return
    const request = await readRequest(csr)
    if (request === undefined || !isOwnRequest(csr, request)) return
    await approve(csr, context, signal)
  },
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

function hasVerdict({ status }: CertificateSigningRequest): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied')
}

async function readRequest(csr: CertificateSigningRequest): Promise<SigningRequest | undefined> {
  try {
    return await readSigningRequest(Buffer.from(csr.spec?.request ?? '', 'base64').toString('utf8'))
  } catch {
    // Not ours to report: nobody approves it, and its signer fails it with the reason.
    return undefined
  }
}

async function approve(
  csr: CertificateSigningRequest,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const nowText = apiTime(context.clock.now())
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'AutoApproved',
    message: 'The agent asked for its own certificate.',
    lastUpdateTime: nowText,
    lastTransitionTime: nowText,
  }
  const conditions = [...(csr.status?.conditions ?? []), condition]
  const body = { ...csr, status: { ...csr.status, conditions } }
  const name = csr.metadata.name ?? ''
  await context
    .client(resources.certificateSigningRequests)
    .updateSubresource({ name, subresource: 'approval', body }, signal)
  context.log.info('Agent certificate approved', { request: name, asker: csr.spec?.username })
}
