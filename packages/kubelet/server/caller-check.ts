import type { TLSSocket } from 'node:tls'
import { StatusError, type SubjectAccessReview } from '@skerry/api'
import type { Clock } from '@skerry/base'
import { resources, type Cluster } from '@skerry/client'

export const callerCheckDefaults = Object.freeze({
  /** Upstream's webhook cache: what was allowed is believed longer than what was not. */
  allowedMs: 5 * 60_000,
  refusedMs: 30_000,
  entriesMax: 1_000,
})

export interface CallerCheck {
  /** Throws StatusError Unauthorized without a client certificate of the cluster, Forbidden without the right. */
  requireAllowed(socket: TLSSocket, request: CallerRequest, signal: AbortSignal): Promise<void>
}

export interface CallerRequest {
  method: string
  path: string
}

/** Asks the API server whether the certificate's user may use this node, as upstream's webhook mode does. */
export function createCallerCheck(
  nodeName: string,
  { cluster, clock }: { cluster: Cluster; clock: Clock },
): CallerCheck {
  const known = new Map<string, { isAllowed: boolean; untilMs: number }>()
  return {
    async requireAllowed(socket, request, signal) {
      const user = userOf(socket)
      if (user === undefined) throw new StatusError('Unauthorized', 'Unauthorized')
      const spec = reviewSpec(user, request, nodeName)
      const key = JSON.stringify(spec)
      const cached = known.get(key)
      const isFresh = cached !== undefined && cached.untilMs > clock.monotonicMs()
      const isAllowed = isFresh ? cached.isAllowed : await ask(cluster, spec, signal)
      if (!isFresh) {
        if (known.size >= callerCheckDefaults.entriesMax) known.clear()
        const { allowedMs, refusedMs } = callerCheckDefaults
        known.set(key, {
          isAllowed,
          untilMs: clock.monotonicMs() + (isAllowed ? allowedMs : refusedMs),
        })
      }
      if (isAllowed) return
      const { resourceAttributes: what } = spec
      throw new StatusError(
        'Forbidden',
        `Forbidden (user=${user.name}, verb=${what?.verb}, resource=nodes, subresource=${what?.subresource})`,
      )
    },
  }
}

interface CertificateUser {
  name: string
  groups: string[]
}

function userOf(socket: TLSSocket): CertificateUser | undefined {
  if (!socket.authorized) return undefined
  const { subject } = socket.getPeerCertificate()
  if (subject?.CN === undefined) return undefined
  // Several O's of one subject come as a list, whatever the type says.
  const organizations: unknown = subject.O ?? []
  const groups = (Array.isArray(organizations) ? organizations : [organizations]).map(String)
  return { name: String(subject.CN), groups: [...groups, 'system:authenticated'] }
}

function reviewSpec(
  user: CertificateUser,
  request: CallerRequest,
  nodeName: string,
): SubjectAccessReview['spec'] {
  return {
    user: user.name,
    groups: user.groups,
    resourceAttributes: {
      group: '',
      version: 'v1',
      resource: 'nodes',
      subresource: subresourceOf(request.path),
      name: nodeName,
      verb: request.method === 'POST' ? 'create' : 'get',
    },
  }
}

function subresourceOf(path: string): string {
  const first = path.split('/')[1] ?? ''
  return (
    { stats: 'stats', metrics: 'metrics', logs: 'log', healthz: 'healthz', pods: 'pods' }[first] ??
    'proxy'
  )
}

async function ask(
  cluster: Cluster,
  spec: SubjectAccessReview['spec'],
  signal: AbortSignal,
): Promise<boolean> {
  const review: SubjectAccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec,
  }
  const answer = await cluster.resource(resources.subjectAccessReviews).create(review, signal)
  return answer.status?.allowed === true
}
