import { isJsonObject, type JsonObject } from '@skerry/api'
import type { DiscoveredResource } from '@skerry/client'
import type { TunnelResponse } from '@skerry/tunnel'
import { fieldAt, textAt } from '@skerry/fleet-kinds'
import { changeAt, ofObject, ofText } from '../mapping/change-at.ts'
import { memberOf, sightOf, type Asked } from './asked-view.ts'
import { jsonAnswer, jsonRequest, readJson } from './edge-calls.ts'
import { readObject } from './member-body.ts'
import { isInNamespaces, isReadOnly, seenAsOf, type SeenAs } from './seen-kinds-table.ts'
import { shownAnswer } from './shown-answer.ts'
import { mayDoInEach } from './user-rights.ts'
import { memberTarget } from './view-target.ts'

const accountName = /^(system:serviceaccounts?:)([^:]+)(:.+)?$/
/** A virtual cluster allows these across namespaces if they are allowed in each of its namespaces. */
const spanningVerbs: ReadonlySet<string> = new Set(['list', 'watch'])

/** Answers reviews of rights and tokens: the edge is asked with its own names of namespaces. */
export async function answerReview(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  const { view, request, info, member } = asked
  const sent = await readObject(asked)
  const body = memberReview(asked, sent)
  const path = memberTarget(info, member === '' ? {} : { namespace: member })
  const answer = await view.asUser(jsonRequest(request, { path, body }), signal)
  const content = await readJson(answer)
  const told = isJsonObject(content) ? await judged(asked, content, signal) : content
  return jsonAnswer(
    request,
    answer,
    await shownAnswer(
      told,
      sightOf(asked, () => true),
    ),
  )
}

function memberReview({ view, member }: Asked, sent: JsonObject): JsonObject {
  const toMember = ofText((namespace) => memberOf(view, namespace))
  const toAccount = ofText((name) =>
    name.replace(
      accountName,
      (_whole, before: string, namespace: string, after = '') =>
        `${before}${memberOf(view, namespace)}${String(after)}`,
    ),
  )
  let body = changeAt(sent, 'spec.namespace', toMember)
  body = changeAt(body, 'spec.resourceAttributes', ofObject(toMemberAttributes(toMember)))
  body = changeAt(body, 'spec.user', toAccount)
  body = changeAt(body, 'spec.groups.*', toAccount)
  return changeAt(body, 'metadata.namespace', (value) => (value ? member : value))
}

function toMemberAttributes(toMember: (value: unknown) => unknown) {
  return (attributes: JsonObject): JsonObject => {
    const mapped = changeAt(attributes, 'namespace', toMember)
    const isNamespace = textAt(mapped, 'resource') === 'namespaces' && !textAt(mapped, 'group')
    return isNamespace ? changeAt(mapped, 'name', toMember) : mapped
  }
}

/** Corrects a review by the rules of this view, which the edge's RBAC does not know. */
async function judged(asked: Asked, review: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const { view } = asked
  const attributes = fieldAt(review, 'spec', 'resourceAttributes')
  const named = { group: textAt(attributes, 'group'), resource: textAt(attributes, 'resource') }
  const kind = named.resource === '' ? undefined : await view.kinds.findAny(named, signal)
  if (kind === undefined) return review
  const question = {
    seenAs: kind.isNamespaced ? undefined : seenAsOf(kind),
    verb: textAt(attributes, 'verb'),
    subresource: textAt(attributes, 'subresource'),
  }
  if (fieldAt(review, 'status', 'allowed') !== true) {
    const isAllowed = await isSpanAllowed(asked, { ...question, kind, attributes }, signal)
    return isAllowed ? { ...review, status: { allowed: true } } : review
  }
  if (!isReadOnly(question)) return review
  const reason = `objects of this kind are read only in virtual cluster "${view.group.clusterName}"`
  return { ...review, status: { allowed: false, reason } }
}

interface Spanning {
  readonly seenAs: SeenAs | undefined
  readonly verb: string
  readonly subresource: string
  readonly kind: DiscoveredResource
  readonly attributes: unknown
}

/** Decides as `readObjects` does, so that a client that asks first gets the same answer. */
async function isSpanAllowed(
  { view, info, request }: Asked,
  { seenAs, verb, subresource, kind, attributes }: Spanning,
  signal: AbortSignal,
): Promise<boolean> {
  const isSpanning =
    info.resource.resource === 'selfsubjectaccessreviews' &&
    isInNamespaces(seenAs) &&
    spanningVerbs.has(verb) &&
    subresource === '' &&
    textAt(attributes, 'namespace') === '' &&
    textAt(attributes, 'name') === ''
  if (!isSpanning) return false
  const members = view.edge.namespacesOf(view.group.clusterName)
  const question = { headers: request.headers, verb, resource: kind }
  return mayDoInEach(view.asAgent, question, members, signal)
}
