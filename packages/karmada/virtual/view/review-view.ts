import { isJsonObject, type JsonObject } from '@skerry/api'
import type { TunnelResponse } from '@skerry/tunnel'
import { fieldAt, textAt } from '../../interpreter/fields.ts'
import { changeAt, ofObject, ofText } from '../mapping/change-at.ts'
import { memberOf, sightOf, type Asked } from './asked-view.ts'
import { jsonAnswer, jsonRequest, readJson } from './edge-calls.ts'
import { readObject } from './member-body.ts'
import { shownAnswer } from './shown-answer.ts'
import { mayDoInEach } from './user-rights.ts'
import { memberTarget } from './view-target.ts'

const accountName = /^(system:serviceaccounts?:)([^:]+)(:.+)?$/
/** What spans namespaces is allowed in a virtual cluster where it is in each of its namespaces. */
const spanningVerbs: ReadonlySet<string> = new Set(['list', 'watch'])

/** Questions about rights and tokens: the edge is asked about its own namespaces. */
export async function answerReview(asked: Asked, signal: AbortSignal): Promise<TunnelResponse> {
  const { view, request, info, member } = asked
  const sent = await readObject(asked)
  const body = memberReview(asked, sent)
  const path = memberTarget(info, member === '' ? {} : { namespace: member })
  const answer = await view.asUser(jsonRequest(request, { path, body }), signal)
  const content = await readJson(answer)
  const judged = isJsonObject(content) ? await withSpan(asked, content, signal) : content
  return jsonAnswer(
    request,
    answer,
    await shownAnswer(
      judged,
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

/** As `readObjects` decides it, so that who asks first is told the same. */
async function withSpan(asked: Asked, review: JsonObject, signal: AbortSignal) {
  const { view, info, request } = asked
  const attributes = fieldAt(review, 'spec', 'resourceAttributes')
  const verb = textAt(attributes, 'verb')
  const isSpanning =
    info.resource.resource === 'selfsubjectaccessreviews' &&
    fieldAt(review, 'status', 'allowed') === false &&
    spanningVerbs.has(verb) &&
    textAt(attributes, 'namespace') === '' &&
    textAt(attributes, 'subresource') === ''
  if (!isSpanning || textAt(attributes, 'resource') === 'nodes') return review
  const resource = {
    group: textAt(attributes, 'group'),
    version: textAt(attributes, 'version'),
    resource: textAt(attributes, 'resource'),
  }
  const members = view.edge.namespacesOf(view.group.clusterName)
  const question = { headers: request.headers, verb, resource }
  const isAllowed = await mayDoInEach(view.asAgent, question, members, signal)
  return isAllowed ? { ...review, status: { allowed: true } } : review
}
