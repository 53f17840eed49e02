import { StatusError } from '@skerry/api'
import type { RequestInfo, YamlReader } from '@skerry/apiserver'
import { abortReason, asError, type Logger } from '@skerry/base'
import type { TunnelHandler, TunnelRequest, TunnelResponse, TunnelUpgraded } from '@skerry/tunnel'
import { statusAnswer } from '@skerry/cluster-agent'
import type { VirtualGroup } from '@skerry/fleet-kinds'
import { impersonationRefusal, type ImpersonationPolicy } from '@skerry/membership'
import type { Mapping } from '../mapping/mapping.ts'
import type { AnswerRoom } from './answer-room.ts'
import { absentObject, askedOf, readOnly, sightOf, type Asked, type View } from './asked-view.ts'
import type { Ask } from './edge-calls.ts'
import type { EdgeKinds } from './edge-kinds.ts'
import type { EdgeNames } from './edge-names.ts'
import type { PageTokens } from './page-token.ts'
import { readObjects, shownOnce } from './read-view.ts'
import { answerReview } from './review-view.ts'
import {
  isByteSubresource,
  isSharedPath,
  memberTarget,
  notFound,
  readViewTarget,
} from './view-target.ts'
import { readVirtualRequest } from './virtual-request.ts'
import { writeObject } from './write-view.ts'

/** A virtual cluster that this agent answers for. */
export interface ViewedCluster {
  readonly group: VirtualGroup
  readonly mapping: Pick<Mapping, 'toMember'>
}

export interface VirtualViewsDeps {
  /** Returns undefined if this agent does not answer for the cluster. */
  readonly find: (cluster: string) => ViewedCluster | undefined
  readonly edge: EdgeNames
  readonly kinds: EdgeKinds
  readonly pages: PageTokens
  readonly room: AnswerRoom
  readonly yaml: YamlReader
  /** Asks with the agent's own rights. */
  readonly asAgent: Ask
  /** The users whom the agent may impersonate. If omitted, everybody whom the hub names. */
  readonly policy?: ImpersonationPolicy
  readonly log: Logger
}

/**
 * Answers requests for virtual clusters by asking their edge's API server, and shows the objects of each
 * answer that are theirs, under their names. Requests for the edge cluster itself pass unchanged.
 */
export function withVirtualViews(api: TunnelHandler, deps: VirtualViewsDeps): TunnelHandler {
  const answering = async <Answer extends TunnelUpgraded>(
    request: TunnelRequest,
    signal: AbortSignal,
    ask: (open: Opened) => Promise<Answer>,
  ): Promise<Answer | TunnelResponse> => {
    try {
      return await ask(await open(request, api, deps, signal))
    } catch (error) {
      if (signal.aborted) throw abortReason(signal)
      return refusalOf(error, request, deps.log)
    }
  }
  return {
    async onRequest(request, signal) {
      const virtual = readVirtualRequest(request)
      if (virtual === undefined) return api.onRequest(request, signal)
      return answering(request, signal, (opened) => answer(opened, api, deps, signal))
    },
    async onUpgrade(request, signal) {
      const virtual = readVirtualRequest(request)
      if (virtual === undefined) return api.onUpgrade(request, signal)
      return answering<TunnelUpgraded>(request, signal, async (opened) => {
        const { info } = opened
        if (!info.isResourceRequest || !isByteSubresource(info)) throw noSession()
        const path = await bytePath(opened, deps, signal)
        return api.onUpgrade({ ...opened.request, path }, signal)
      })
    },
  }
}

interface Opened {
  readonly view: View
  readonly request: TunnelRequest
  readonly info: RequestInfo
}

async function open(
  given: TunnelRequest,
  api: TunnelHandler,
  deps: VirtualViewsDeps,
  signal: AbortSignal,
): Promise<Opened> {
  const { cluster = '', request = given } = readVirtualRequest(given) ?? {}
  // The forwarder checks the same, but requests with the agent's own rights never reach it.
  const why = impersonationRefusal(deps.policy ?? {}, request.headers)
  if (why !== undefined) throw new StatusError('Forbidden', `Cannot pass request: ${why}`)
  const found = deps.find(cluster)
  if (found === undefined) throw noCluster(cluster)
  const info = readViewTarget(request.method, request.path)
  await deps.edge.whenKnown(signal)
  const { edge, kinds, pages, room, yaml, asAgent } = deps
  const asUser: Ask = (asked, scope) => api.onRequest(asked, scope)
  return { view: { ...found, edge, kinds, pages, room, yaml, asUser, asAgent }, request, info }
}

async function answer(
  opened: Opened,
  api: TunnelHandler,
  deps: VirtualViewsDeps,
  signal: AbortSignal,
): Promise<TunnelResponse> {
  const { request, info } = opened
  if (isSharedPath(info)) return api.onRequest(request, signal)
  if (!info.isResourceRequest) throw notFound()
  if (isByteSubresource(info)) {
    const asked = await read(opened, deps, signal)
    const passed = await api.onRequest({ ...request, path: pathOfBytes(asked) }, signal)
    const isOwnWord = passed.status >= 400 && info.subresource !== 'proxy'
    return isOwnWord
      ? shownOnce(
          asked,
          sightOf(asked, () => true),
          passed,
        )
      : passed
  }
  const asked = await read(opened, deps, signal)
  if (asked.seenAs === 'review' || info.resource.resource === 'localsubjectaccessreviews') {
    if (info.verb !== 'create') throw notFound()
    return answerReview(asked, signal)
  }
  const isRead = info.method === 'GET' && /^(?:get|list|watch)$/.test(info.verb)
  return isRead ? readObjects(asked, signal) : writeObject(asked, signal)
}

async function bytePath(
  opened: Opened,
  deps: VirtualViewsDeps,
  signal: AbortSignal,
): Promise<string> {
  return pathOfBytes(await read(opened, deps, signal))
}

/**
 * Returns the path of a stream (exec, logs, proxying to a pod or service), in namespaces of the virtual
 * cluster only.
 */
function pathOfBytes(asked: Asked): string {
  const { info, member, view } = asked
  if (member === '' || info.name === '') throw readOnly(info, view.group.clusterName)
  if (asked.seenAs !== undefined) throw readOnly(info, view.group.clusterName)
  return memberTarget(info, { namespace: member })
}

async function read(opened: Opened, deps: VirtualViewsDeps, signal: AbortSignal): Promise<Asked> {
  const { info, request, view } = opened
  const kind = await deps.kinds.find(info.resource, signal)
  if (kind === undefined) throw notFound()
  if (info.namespace !== '' && !kind.isNamespaced && kind.resource !== 'namespaces') {
    throw absentObject(info)
  }
  return askedOf({ view, request, info, kind }, signal)
}

function refusalOf(error: unknown, { headers }: TunnelRequest, log: Logger): TunnelResponse {
  const auditId = String(headers['audit-id'] ?? '')
  const cause = asError(error)
  if (cause instanceof StatusError) {
    log.debug('Request to a virtual cluster refused', { auditId, error: cause })
    return statusAnswer(cause, auditId)
  }
  log.info('Request to a virtual cluster failed', { auditId, error: cause })
  const text = `Cannot answer for the virtual cluster: ${cause.message}`
  return statusAnswer(new StatusError('ServiceUnavailable', text, { cause }), auditId)
}

export function noCluster(cluster: string): StatusError {
  const text = `Cannot reach virtual cluster "${cluster}": the agent has no group of nodes of that name; see the VirtualClusters of the edge cluster`
  return new StatusError('ServiceUnavailable', text)
}

function noSession(): StatusError {
  return new StatusError('BadRequest', 'Cannot open session: nothing of this path is a session')
}
