/** Agents that wait to be accepted, and clusters that are asked to come. Pure. */

/** A certificates.k8s.io/v1 CertificateSigningRequest, as far as it says that somebody waits. */
export interface SigningRequestObject {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly signerName: string }
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] }
}

export const signingRequests = {
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
}

const agentSigner = 'kubernetes.io/kube-apiserver-client'

/** Names the requests that nobody has decided about. The hub is asked again when these change. */
export function undecided(requests: Iterable<SigningRequestObject>): string[] {
  return [...requests]
    .filter(({ spec, status }) => {
      const types = status?.conditions?.map(({ type }) => type) ?? []
      return (
        spec.signerName === agentSigner && !types.includes('Approved') && !types.includes('Denied')
      )
    })
    .map(({ metadata }) => metadata.name)
    .toSorted()
}

export const registrationsPath = '/hub/v1/registrations'

/** An agent that waits, as the hub describes it. */
export interface Registration {
  readonly request: string
  readonly cluster: string
  /** Empty if unknown. */
  readonly address: string
  readonly version: string
  readonly id: string
  /** `sha256:<hex>` of the agent's key; the agent logs the same. */
  readonly fingerprint: string
  readonly since: string
  readonly waitsFor: string
  /** Facts that a person should know before. */
  readonly warnings: readonly string[]
}

/** `empty`: nothing was typed. */
export type Comparison = 'empty' | 'equal' | 'different'

/** Compares the fingerprint of a request with one that a person has copied from the agent’s log. */
export function compareFingerprint(shown: string, copied: string): Comparison {
  const typed = bare(copied)
  if (typed === '') return 'empty'
  return typed === bare(shown) ? 'equal' : 'different'
}

function bare(text: string): string {
  return text
    .toLowerCase()
    .replace(/^.*sha256:/, '')
    .replaceAll(/[^0-9a-f]/g, '')
}
