import type { CertificateSigningRequest } from '@skerry/api'
import { readSigningRequest, type SigningRequest } from '@skerry/pki'
import { apiTime } from '@skerry/fleet-kinds'

/** Who signs agents' certificates. */
export const agentSigner = 'kubernetes.io/kube-apiserver-client'

export type Verdict = 'Approved' | 'Denied'

export function verdictOf({ status }: CertificateSigningRequest): Verdict | undefined {
  const types = (status?.conditions ?? []).map(({ type }) => type)
  if (types.includes('Denied')) return 'Denied'
  return types.includes('Approved') ? 'Approved' : undefined
}

/** What is asked for; undefined for what is no request: its signer fails that with the reason. */
export async function readAgentRequest({
  spec,
}: CertificateSigningRequest): Promise<SigningRequest | undefined> {
  try {
    return await readSigningRequest(Buffer.from(spec?.request ?? '', 'base64').toString('utf8'))
  } catch {
    return undefined
  }
}

/** For exactly this subject, to identify as it to a server, and nothing else. */
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

/** The update of the request's `approval` that says so. */
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
