import type { TLSSocket } from 'node:tls'
import { StatusError, type SubjectAccessReview } from '@skerry/api'
import type { Clock } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { callerCheckDefaults } from '../limits-table.ts'

export interface CallerCheck {
  /** Throws StatusError Unauthorized without a client certificate of the cluster, Forbidden without the right. */
  requireAllowed(socket: TLSSocket, request: CallerRequest, signal: AbortSignal): Promise<void>
}

export interface CallerRequest {
  method: string
  path: string
  /** True for an upgrade. A session can do more than read, even if it is a GET. */
  isSession?: boolean
}

/** Asks the API server whether the certificate's user may use this node, as upstream's webhook mode does. */
export function createCallerCheck(
  nodeName: string,
  { cluster, clock }: { cluster: ClusterClient; clock: Clock },
): CallerCheck {
  const known = new Map<string, { isAllowed: boolean; untilMs: number }>()
  const isAllowed = async (
    spec: SubjectAccessReview['spec'],
    signal: AbortSignal,
  ): Promise<boolean> => {
    const key = JSON.stringify(spec)
    const cached = known.get(key)
    if (cached !== undefined && cached.untilMs > clock.monotonicMs()) return cached.isAllowed
    const told = await ask(cluster, spec, signal)
    if (known.size >= callerCheckDefaults.entriesMax) known.clear()
    const { allowedMs, refusedMs } = callerCheckDefaults
    known.set(key, {
      isAllowed: told,
      untilMs: clock.monotonicMs() + (told ? allowedMs : refusedMs),
    })
    return told
  }
  return {
    async requireAllowed(socket, request, signal) {
      const user = userOf(socket)
      if (user === undefined) throw new StatusError('Unauthorized', 'Unauthorized')
      const { verb, subresources } = nodeQuestions(request)
      for (const subresource of subresources) {
        if (await isAllowed(reviewSpec(user, { verb, subresource }, nodeName), signal)) return
      }
      const asked = `verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}]`
      throw new StatusError('Forbidden', `Forbidden (user=${user.name}, ${asked})`)
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
  // A subject with several O's has a list, contrary to the type.
  const organizations: unknown = subject.O ?? []
  const groups = (Array.isArray(organizations) ? organizations : [organizations]).map(String)
  return { name: String(subject.CN), groups: [...groups, 'system:authenticated'] }
}

function reviewSpec(
  user: CertificateUser,
  { verb, subresource }: { verb: string; subresource: string },
  nodeName: string,
): SubjectAccessReview['spec'] {
  return {
    user: user.name,
    groups: user.groups,
    resourceAttributes: {
      group: '',
      version: 'v1',
      resource: 'nodes',
      subresource,
      name: nodeName,
      verb,
    },
  }
}

/** Any other method is none that a right can name, unless it is a right to all. */
const verbs: Readonly<Record<string, string>> = Object.freeze({
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
})

/**
 * The subresources for the first step of the path. Other steps need nodes/proxy; some steps accept it in
 * addition to their own.
 */
const subresourcesOfStep: Readonly<Record<string, readonly string[]>> = Object.freeze({
  pods: ['pods', 'proxy'],
  runningpods: ['pods', 'proxy'],
  healthz: ['healthz', 'proxy'],
  configz: ['configz', 'proxy'],
  flagz: ['configz'],
  stats: ['stats'],
  metrics: ['metrics'],
  logs: ['log'],
  checkpoint: ['checkpoint'],
  statusz: ['statusz'],
})

/** Returns the rights that a request to a node needs; one of the subresources is enough (upstream's NodeRequestAttributes). */
export function nodeQuestions({ method, path, isSession }: CallerRequest): {
  verb: string
  subresources: readonly string[]
} {
  const [, first = ''] = path.split('/')
  const known = Object.hasOwn(subresourcesOfStep, first) ? subresourcesOfStep[first] : undefined
  const verb = isSession === true ? 'create' : (verbs[method] ?? '')
  return { verb, subresources: known ?? ['proxy'] }
}

async function ask(
  cluster: ClusterClient,
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
