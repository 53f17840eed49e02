import type { CertificateSigningRequest } from '@skerry/api'
import { readSigningRequest, type SigningRequest } from '@skerry/pki'
import { apiTime } from '@skerry/fleet-kinds'

/** The signer of agents' certificates. */
export const agentSigner = 'kubernetes.io/kube-apiserver-client'

export type Verdict = 'Approved' | 'Denied'

export function verdictOf({ status }: CertificateSigningRequest): Verdict | undefined {
  const types = (status?.conditions ?? []).map(({ type }) => type)
  if (types.includes('Denied')) return 'Denied'
  return types.includes('Approved') ? 'Approved' : undefined
}

/** Parses the signing request. Resolves undefined if it is invalid: its signer then fails it with the reason. */
export async function readAgentRequest({
  spec,
}: CertificateSigningRequest): Promise<SigningRequest | undefined> {
  try {
    return await readSigningRequest(Buffer.from(spec?.request ?? '', 'base64').toString('utf8'))
  } catch {
    return undefined
  }
}

/** Reports whether the request is for exactly this subject, to authenticate as a client, and nothing else. */
export function isClientRequest(
  usages: readonly string[],
  { commonName, organizations, ...names }: SigningRequest,
  wanted: { readonly commonName: string; readonly organization: string },
): boolean {
  const left = new Set(usages)
  const isComplete = left.delete('client auth') && left.delete('digital signature')
  left.delete('key encipherment')
  const alternatives = [names.dnsNames, names.ipAddresses, names.emails, names.uris].flat()
  return (
    commonName === wanted.commonName &&
    organizations.join() === wanted.organization &&
    alternatives.length === 0 &&
    isComplete &&
    left.size === 0
  )
}

export interface Decision {
  readonly type: Verdict
  /** A word of CamelCase. */
  readonly reason: string
  readonly message: string
}

/** Returns the update of the request's `approval` that records the decision. */
export function decided(csr: CertificateSigningRequest, decision: Decision, nowMs: number) {
  const nowText = apiTime(nowMs)
  const condition = {
    ...decision,
    status: 'True',
    lastUpdateTime: nowText,
    lastTransitionTime: nowText,
  }
  const conditions = [...(csr.status?.conditions ?? []), condition]
  return {
    name: csr.metadata.name ?? '',
    subresource: 'approval',
    body: { ...csr, status: { ...csr.status, conditions } },
  }
}
