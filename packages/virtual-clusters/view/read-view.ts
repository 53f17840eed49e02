import { isJsonObject, StatusError } from '@skerry/api'
import type { TunnelRequest, TunnelResponse } from '@skerry/tunnel'
import { groupLabel, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { createMemberNames } from '../mapping/member-names.ts'
import { absentObject, memberFieldSelector, memberOf, sightOf, type Asked } from './asked-view.ts'
import { jsonAnswer, jsonRequest, readJson } from './edge-calls.ts'
import { isEvents, isOwnObject } from './own-objects.ts'
import { isInNamespaces } from './seen-kinds-table.ts'
import { shownAnswer, type Sight } from './shown-answer.ts'
import { shownWatch } from './shown-watch.ts'
import { mayDo, mayDoInEach } from './user-rights.ts'
import { memberTarget, type MemberPlace } from './view-target.ts'

/**
 * Answers get, list and watch. A request across namespaces is one request to the edge, whose answer is
 * filtered, so that resource versions, pages and bookmarks are the edge's own. A user without the right to
 * all of the edge may still see all of the virtual cluster, if the edge's RBAC allows it in each of its
 * namespaces.
 */
export async function readObjects(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  const { view, info } = asked
  const { verb, name } = info
  if (
    asked.seenAs === 'nodes' &&
    name !== '' &&
    !view.edge.isNodeOf(view.group.clusterName, name)
  ) {
    throw absentObject(info)
  }
  const request = edgeRequest(asked)
  const seen = isOwnObject(asked, signal)
  const first = await askByName(asked, request, signal)
  const spansAll = name === '' && asked.member === '' && isInNamespaces(asked.seenAs)
  if (first.status !== 403 || !spansAll) {
    return shown({ asked, sight: sightOf(asked, seen), isWatch: verb === 'watch' }, first)
  }
  const refusal = await shownOnce(asked, sightOf(asked, seen), first)
  const question = { headers: asked.request.headers, verb, resource: info.resource }
  const members = view.edge.namespacesOf(view.group.clusterName)
  if (!(await mayDoInEach(view.asAgent, question, members, signal))) return refusal
  const narrowed = isOwnObject(asked, signal, allowedIn(members, asked, signal))
  const answer = await view.asAgent(request, signal)
  if (answer.status === 403) {
    await readJson(answer)
    return refusal
  }
  const sight = sightOf(asked, narrowed)
  return shown({ asked, sight, isWatch: verb === 'watch' }, answer)
}

/**
 * Asks for one object by name. For kinds that are renamed, the virtual cluster's own object comes first, then
 * the edge's.
 */
async function askByName(
  asked: Asked,
  request: TunnelRequest,
  signal: AbortSignal,
): Promise<TunnelResponse> {
  const { view, info, seenAs } = asked
  if (info.name === '' || (seenAs !== 'claimed' && seenAs !== 'own')) {
    return view.asUser(request, signal)
  }
  const name = createMemberNames(view.group).ownName(info.name)
  const path = memberTarget(info, { name, query: queryOf(asked) })
  const own = await view.asUser({ ...request, path }, signal)
  if (own.status !== 404 || seenAs === 'own') return own
  await readJson(own)
  return view.asUser(request, signal)
}

/** Returns a check that also covers namespaces that appear during a watch. */
function allowedIn(
  members: readonly string[],
  { view, request, info }: Asked,
  signal: AbortSignal,
): (member: string) => Promise<boolean> {
  const known = new Map<string, boolean>(members.map((member) => [member, true]))
  return async (namespace) => {
    const told = known.get(namespace)
    if (told !== undefined) return told
    const { verb, resource } = info
    const question = { headers: request.headers, verb, resource, namespace }
    const verdict = await mayDo(view.asAgent, question, signal)
    known.set(namespace, verdict)
    return verdict
  }
}

interface Shown {
  readonly asked: Asked
  readonly sight: Sight
  readonly isWatch: boolean
}

async function shown({ asked, sight, isWatch }: Shown, answer: TunnelResponse) {
  if (!isWatch || answer.status !== 200) return shownOnce(asked, sight, answer)
  const { 'content-length': _, ...headers } = answer.headers
  return { status: 200, headers, body: shownWatch(answer.body, sight) }
}

/** Shows one answer. An answer that is not JSON comes from a proxy before the API server, and holds no object. */
export async function shownOnce(
  { request, view, signal }: Asked,
  sight: Sight,
  answer: TunnelResponse,
): Promise<TunnelResponse> {
  const show = async (content: unknown): Promise<TunnelResponse> => {
    if (!isJsonObject(content)) {
      const text = `the edge cluster answered with HTTP ${answer.status} and no object`
      throw new StatusError(
        'ServiceUnavailable',
        `Cannot show answer in a virtual cluster: ${text}`,
      )
    }
    return jsonAnswer(request, answer, await shownAnswer(content, sight))
  }
  return view.room.read(answer, show, signal)
}

/** The same question for the edge. */
export function edgeRequest(asked: Asked): TunnelRequest {
  const { request, info, member } = asked
  const accept = acceptOf(asked)
  const place: MemberPlace = {
    ...(member === '' ? {} : { namespace: member }),
    ...(asked.seenAs === 'namespaces' && info.name !== ''
      ? { name: memberOf(asked.view, info.name) }
      : {}),
    query: queryOf(asked),
  }
  return jsonRequest(request, { path: memberTarget(info, place), accept })
}

/** This label of a namespace holds the edge's name. */
const nameLabel = 'kubernetes.io/metadata.name'

/**
 * Returns the Accept header. Throws StatusError NotAcceptable if the owner of an object does not show in its
 * metadata.
 */
function acceptOf({ request, seenAs }: Asked): string {
  const { accept } = jsonRequest(request, { path: '' }).headers
  const text = String(accept)
  if (seenAs !== 'claimed' || !/as=PartialObjectMetadata/i.test(text)) return text
  throw new StatusError(
    'NotAcceptable',
    'Cannot show metadata of volumes in a virtual cluster: ask for the whole objects',
  )
}

function queryOf(asked: Asked): Record<string, string> {
  const { info, seenAs, view } = asked
  const { clusterName } = view.group
  const query: Record<string, string> = {}
  const fields = info.query.get('fieldSelector')
  if (fields) {
    query['fieldSelector'] = memberFieldSelector(fields, view, seenAs === 'namespaces')
  }
  const page = info.query.get('continue')
  if (page) query['continue'] = view.pages.open(page, clusterName)
  if (info.query.get('includeObject') === 'None') query['includeObject'] = 'Metadata'
  if (seenAs === 'claimed' || isEvents(info.resource)) query['includeObject'] = 'Object'
  if (info.name !== '') return query
  const own =
    seenAs === 'nodes'
      ? `${groupLabel}=${clusterName}`
      : seenAs === 'namespaces'
        ? `${virtualNamespaceLabels.cluster}=${clusterName}`
        : undefined
  if (own === undefined) return query
  const labels = info.query.get('labelSelector') ?? ''
  const ownLabels =
    seenAs === 'namespaces'
      ? labels.replaceAll(nameLabel, virtualNamespaceLabels.namespace)
      : labels
  query['labelSelector'] = ownLabels === '' ? own : `${ownLabels},${own}`
  return query
}
