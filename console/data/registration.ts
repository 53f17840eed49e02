/** Agents that wait to be accepted: certificate signing requests of tokens for one cluster. Pure. */

/** A certificates.k8s.io/v1 CertificateSigningRequest, as far as it is shown. */
export interface AgentRequest {
  readonly metadata: {
    readonly name: string
    readonly creationTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly request: string
    readonly signerName: string
    readonly username?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] }
}

export const agentRequests = {
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
}

const signer = 'kubernetes.io/kube-apiserver-client'
const tokenUser = 'system:bootstrap:'
const tokenGroup = 'system:bootstrappers:karmada:agent:'

/** Reports whether a person has yet to decide about a request. */
export function isPending({ spec, status }: AgentRequest): boolean {
  const isDecided = status?.conditions?.some(({ type }) => type === 'Approved' || type === 'Denied')
  return spec.signerName === signer && isDecided !== true && clusterAsked({ spec }) !== undefined
}

/** Returns the cluster for which the token of the asker was made; undefined for all other requests. */
export function clusterAsked({ spec }: Pick<AgentRequest, 'spec'>): string | undefined {
  if (spec.username?.startsWith(tokenUser) !== true) return undefined
  const groups = (spec.groups ?? []).filter((group) => group.startsWith(tokenGroup))
  return groups.length === 1 ? groups[0]?.slice(tokenGroup.length) : undefined
}

export interface RegistrationFacts {
  readonly address: string
  /** The asker claims it, and nobody has proven it. */
  readonly version: string
  readonly waitsFor: string
}

export function registrationFacts({ metadata, spec }: AgentRequest): RegistrationFacts {
  const { annotations = {} } = metadata
  return {
    address: spec.extra?.['hub.skerry.io/source-address']?.[0] ?? '',
    version: annotations['hub.skerry.io/agent-version'] ?? '',
    waitsFor: annotations['hub.skerry.io/waits-for'] ?? '',
  }
}

/** Returns the request with the decision of a person to accept it, for its approval. */
export function accepted(request: AgentRequest, nowMs: number): unknown {
  const now = new Date(nowMs).toISOString().replace(/\.\d+/, '')
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'Accepted',
    message: 'A person accepted the agent.',
    lastUpdateTime: now,
    lastTransitionTime: now,
  }
  const conditions = [...(request.status?.conditions ?? []), condition]
  return { ...request, status: { ...request.status, conditions } }
}
