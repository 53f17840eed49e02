import { StatusError, checkDnsLabel } from '@skerry/api'
import type { AuthorizedRequest, ApiAnswer, Authorizer, Objects, Route } from '@skerry/apiserver'
import type { Clock, Logger } from '@skerry/base'
import type { Authority } from '@skerry/pki'
import { agentUserName, agentsGroup, clusterResource } from '@skerry/fleet-kinds'
import {
  agentSerialPrefix,
  isRevoked,
  wasRevokedByTime,
  type RevocationOptions,
} from './agent-revocation.ts'
import {
  reEnrolmentPath,
  reEnrolmentPrefix as prefix,
  reEnrolmentSuffix as suffix,
  type ReEnrolment,
} from './re-enrolment-request.ts'
import { answerReEnrolment } from './re-enrolment.ts'
import { membershipBounds } from '../limits-table.ts'

const { bodyBytesMax } = membershipBounds.reEnrolmentRoute

export interface ReEnrolmentDeps extends RevocationOptions {
  readonly objects: Objects
  readonly authority: Authority
  readonly graceMs: number
  readonly lifetimeMs: number
  /** Returns the time reckoned from the hub's earlier records. */
  readonly reckonedMs: () => number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
}

/**
 * Serves `POST /agents/v1/clusters/<name>/re-enrolment`: an agent that was offline until its certificate
 * expired gets the next one. It sends no credentials, because an expired certificate is not valid; the
 * request proves that it holds the old key. Each attempt has an audit line, like any write.
 */
export function reEnrolmentRoute(deps: ReEnrolmentDeps): Route {
  return {
    prefix,
    attributes: ({ method }, target) => ({
      verb: method.toLowerCase(),
      isResourceRequest: false,
      path: reEnrolmentPath(clusterNameOf(target)),
    }),
    serve: (admitted) => serve(admitted, deps),
  }
}

/** Allows everybody to ask: the answer depends on the proof in the body alone. */
export const reEnrolmentAuthorizer: Authorizer = {
  async authorize({ isResourceRequest, path, verb }) {
    const isAsked =
      !isResourceRequest && verb === 'post' && path.startsWith(prefix) && path.endsWith(suffix)
    return { verdict: isAsked ? 'allow' : 'no-opinion', reason: '' }
  },
}

async function serve({ request }: AuthorizedRequest, deps: ReEnrolmentDeps): Promise<ApiAnswer> {
  const { objects, authority, clock, log, graceMs, lifetimeMs, backdateMs } = deps
  if (request.method !== 'POST') {
    throw new StatusError('MethodNotAllowed', 'Cannot re-enrol: use POST')
  }
  const cluster = clusterNameOf(request.target)
  if (!objects.get(clusterResource, '', cluster)) {
    throw new StatusError('Forbidden', `Cannot re-enrol: the hub has no cluster "${cluster}"`)
  }
  const nowMs = clock.now()
  const rules = {
    authority,
    reckonedMs: deps.reckonedMs(),
    graceMs,
    lifetimeMs,
    backdateMs,
    wasRevokedByTime: (name: string) => wasRevokedByTime(objects, name),
    serialPrefix: agentSerialPrefix(objects, {
      name: agentUserName(cluster),
      groups: [agentsGroup],
    }),
    isRevoked: (name: string, certificate: { notBeforeMs: number; serialNumber: string }) =>
      isRevoked(objects, { ...certificate, cluster: name, part: 'own', backdateMs }),
  }
  const asked = parse(await readBounded(request.body))
  const certificate = await answerReEnrolment(cluster, asked, rules, nowMs)
  const address = request.peer.type === 'socket' ? request.peer.address : ''
  log.info('Agent re-enrolled', { cluster, address })
  return {
    status: 201,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${JSON.stringify({ certificate })}\n`),
  }
}

function clusterNameOf(target: string): string {
  const inner = target.startsWith(prefix) && target.endsWith(suffix)
  const name = inner ? target.slice(prefix.length, -suffix.length) : ''
  if (checkDnsLabel(name).length === 0) return name
  throw new StatusError('NotFound', `Cannot find ${JSON.stringify(target.slice(0, 256))}`)
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) {
      throw new StatusError(
        'RequestEntityTooLarge',
        `Cannot re-enrol: the request has more than ${bodyBytesMax} bytes`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): ReEnrolment {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new StatusError('BadRequest', 'Cannot re-enrol: the request is not JSON', { cause })
  }
  const { certificate, request, signature } = { ...(isObject(value) ? value : {}) }
  if (
    typeof certificate === 'string' &&
    typeof request === 'string' &&
    typeof signature === 'string'
  ) {
    return { certificate, request, signature }
  }
  throw new StatusError(
    'BadRequest',
    'Cannot re-enrol: the request needs the texts certificate, request and signature',
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
