import type { CertificateSigningRequest } from '@skerry/api'
import { mayJoinAs, type SigningRequest } from '@skerry/pki'

export const nodeClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
export const nodeServingSigner = 'kubernetes.io/kubelet-serving'
export const clientSigner = 'kubernetes.io/kube-apiserver-client'

const nodesGroup = 'system:nodes'
const nodeUserPrefix = 'system:node:'

/** The permission to approve a request automatically, and the message of the approval. */
export interface AutomaticApproval {
  subresource: 'nodeclient' | 'selfnodeclient' | 'selfnodeserver'
  message: string
}

/**
 * Applies upstream's rules for node client certificates: a bootstrap token's user may request one
 * for any node (nodeclient), unless the token is for one node, and a node for itself (selfnodeclient). A serving certificate is approved
 * for the node itself, for names and addresses in its Node object, and for link-local addresses, at which every
 * machine reaches itself alone.
 */
export function automaticApprovals(
  csr: CertificateSigningRequest,
  request: SigningRequest,
  addresses: (nodeName: string) => ReadonlySet<string> | undefined,
): AutomaticApproval[] {
  if (!isOfNode(request)) return []
  const isSelf = csr.spec?.username === request.commonName
  const nodeName = request.commonName.slice(nodeUserPrefix.length)
  if (!mayJoinAs(csr.spec?.groups ?? [], nodeName)) return []
  if (csr.spec?.signerName === nodeClientSigner && isNodeClient(csr, request)) {
    const self: AutomaticApproval = {
      subresource: 'selfnodeclient',
      message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    }
    const any: AutomaticApproval = {
      subresource: 'nodeclient',
      message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    }
    return isSelf ? [self, any] : [any]
  }
  if (csr.spec?.signerName === nodeServingSigner && isSelf && isNodeServing(csr, request)) {
    const known = addresses(nodeName)
    const asked = [...request.dnsNames, ...request.ipAddresses]
    const isOwn = (each: string): boolean => known?.has(each) === true || isLinkLocal(each)
    if (known === undefined || !asked.every(isOwn)) return []
    return [
      {
        subresource: 'selfnodeserver',
        message: 'Auto approving kubelet serving certificate of a known node.',
      },
    ]
  }
  return []
}

/** IPv4's link-local addresses (RFC 3927), which no router passes on. */
function isLinkLocal(address: string): boolean {
  return /^169\.254\.\d{1,3}\.\d{1,3}$/.test(address)
}

function isOfNode(request: SigningRequest): boolean {
  const { organizations, commonName } = request
  return (
    organizations.length === 1 &&
    organizations[0] === nodesGroup &&
    commonName.startsWith(nodeUserPrefix) &&
    commonName.length > nodeUserPrefix.length
  )
}

function isNodeClient(csr: CertificateSigningRequest, request: SigningRequest): boolean {
  const names = [...request.dnsNames, ...request.ipAddresses, ...request.emails, ...request.uris]
  return names.length === 0 && hasUsages(csr, 'client auth')
}

function isNodeServing(csr: CertificateSigningRequest, request: SigningRequest): boolean {
  const named = [...request.dnsNames, ...request.ipAddresses]
  return (
    named.length > 0 &&
    request.emails.length + request.uris.length === 0 &&
    hasUsages(csr, 'server auth')
  )
}

/** The extended usage and digital signature are required; key encipherment is optional (RSA keys). */
function hasUsages(csr: CertificateSigningRequest, extended: string): boolean {
  const usages = new Set(csr.spec?.usages ?? [])
  const isComplete = usages.delete(extended) && usages.delete('digital signature')
  usages.delete('key encipherment')
  return isComplete && usages.size === 0
}
