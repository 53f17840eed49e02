import { asError, messageOf } from '@skerry/base'
import { applyJsonPatch } from '@skerry/bodies'
import { equalJson, isJsonObject, isStatusError, StatusError, type AnyObject } from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import { toStatusError } from '../contract/status-answer.ts'
import type { PluginDeps } from './plugin-deps.ts'
import type { AdmissionResponse, ReviewSubject } from '../admission-matching/admission-review.ts'
import { callWebhook, WebhookCallError } from './call-webhook.ts'
import { meetsConditions } from './match-conditions.ts'
import { replaceContent, ReinvocationNotes } from '../admission-matching/reinvocation-notes.ts'
import { isExempt, matchRequest } from '../admission-matching/request-match.ts'
import { createWebhookSource, mutatingConfigurations, type Webhook } from './webhook-source.ts'

const pluginName = 'MutatingAdmissionWebhook'

/**
 * MutatingAdmissionWebhook: webhooks run one after the other, and each sees the changes of those
 * before it. The second round only calls those that want it and whose object changed after their
 * call.
 */
export function createMutatingWebhooks(deps: PluginDeps): AdmissionPlugin {
  const source = createWebhookSource(deps.objects, mutatingConfigurations)
  return {
    name: pluginName,
    handles: (request) => !request.isInternal && source().length > 0 && !isExempt(request),
    async admit(request) {
      const notes = ReinvocationNotes.of(request, pluginName)
      notes.start(request)
      const round = { request, notes, deps, current: request.object }
      for (const [index, webhook] of source().entries()) await askOne(webhook, index, round)
      if (request.object && round.current && round.current !== request.object) {
        replaceContent(request.object, round.current)
      }
      notes.finish(request)
    },
  }
}

interface Round {
  readonly request: AdmissionRequest
  readonly notes: ReinvocationNotes
  readonly deps: PluginDeps
  /** The object in the version of the request. */
  current: AnyObject | undefined
}

async function askOne(webhook: Webhook, index: number, round: Round): Promise<void> {
  const { request, notes, deps } = round
  const { random, webhooks: client } = deps
  const subject = await subjectFor(webhook, round)
  if (!subject) return
  if (request.reinvocation.isSecond && !notes.isDue(webhook.uid)) return
  const place = `round_${request.reinvocation.isSecond ? 1 : 0}_index_${index}`
  let isChanged = false
  try {
    const response = await callWebhook(webhook, subject, true, { client, random })
    const patched = patchedObject(webhook, response, subject, place)
    if (patched) {
      isChanged = !equalJson(patched, subject.object)
      round.current = await request.versions.convert(patched, request.objectKind)
    }
  } catch (error) {
    if (!(error instanceof WebhookCallError && webhook.isFailureIgnored)) throw error
    request.annotate(`failed-open.mutation.webhook.admission.k8s.io/${place}`, webhook.name)
  } finally {
    const { configuration, name } = webhook
    const mutation = JSON.stringify({ configuration, webhook: name, mutated: isChanged })
    request.annotate(`mutation.webhook.admission.k8s.io/${place}`, mutation)
  }
  if (isChanged) notes.onChanged(request)
  if (webhook.isReinvoked) notes.onAsked(webhook.uid)
}

async function subjectFor(
  webhook: Webhook,
  { request, current, deps }: Round,
): Promise<ReviewSubject | undefined> {
  const seen = current === request.object ? request : { ...request, object: current }
  const matched = matchRequest(webhook.criteria, seen, deps.objects)
  if (!matched) return undefined
  const { oldObject, versions } = request
  const subject = {
    request,
    matched,
    object: current && (await versions.convert(current, matched.kind)),
    oldObject: oldObject && (await versions.convert(oldObject, matched.kind)),
  }
  return (await meetsConditions(webhook, subject, deps)) ? subject : undefined
}

/** Returns undefined if the webhook patches nothing. */
function patchedObject(
  webhook: Webhook,
  { patch, patchType }: AdmissionResponse,
  { request, matched, object }: ReviewSubject,
  place: string,
): AnyObject | undefined {
  if (patch === '') return undefined
  const operations = decodePatch(webhook, patch)
  if (operations.length === 0) return undefined
  const { name, configuration } = webhook
  if (!object) {
    const why = `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`
    throw toStatusError(new Error(why))
  }
  if (patchType !== 'JSONPatch') {
    throw new WebhookCallError(name, `unsupported patch type ${JSON.stringify(patchType)}`)
  }
  const patched = conform(apply(webhook, object, operations), { request, matched })
  const record = JSON.stringify({ configuration, webhook: name, patch: operations, patchType })
  request.annotate(`patch.webhook.admission.k8s.io/${place}`, record, 'Request')
  return patched
}

function decodePatch(webhook: Webhook, patch: string): unknown[] {
  const refuse = (why: string): WebhookCallError => undecodable(webhook, why)
  let value: unknown
  try {
    value = JSON.parse(patch)
  } catch (error) {
    throw refuse(messageOf(error))
  }
  if (value === null) return []
  if (Array.isArray(value)) return value
  const sort = typeof value === 'object' ? 'object' : typeof value
  throw refuse(`json: cannot unmarshal ${sort} into Go value of type jsonpatch.Patch`)
}

function undecodable({ name }: Webhook, why: string): WebhookCallError {
  return new WebhookCallError(name, `received undecodable patch in webhook response: ${why}`)
}

function apply(webhook: Webhook, object: AnyObject, operations: readonly unknown[]): AnyObject {
  let patched: unknown
  try {
    patched = applyJsonPatch(object, operations)
  } catch (error) {
    // The webhook sent this patch, so the client must not get a 400 for it.
    if (isStatusError(error, 'BadRequest')) throw undecodable(webhook, error.message)
    throw toStatusError(innermost(error))
  }
  if (!isJsonObject(patched) || !isJsonObject(patched['metadata'])) {
    throw toStatusError(new Error('the patched object is not a Kubernetes object'))
  }
  const { apiVersion, kind, metadata } = object
  // A patch that renames the kind is decoded as the kind of the stored object.
  return { ...patched, apiVersion, kind, metadata: { ...metadata, ...patched['metadata'] } }
}

function conform(
  patched: AnyObject,
  { request, matched }: Pick<ReviewSubject, 'request' | 'matched'>,
): AnyObject {
  try {
    return request.versions.conform(patched, matched.kind)
  } catch (error) {
    throw toStatusError(innermost(error))
  }
}

/** Drops the message for a request's own body, because this object came from the webhook. */
function innermost(error: unknown): Error {
  if (error instanceof StatusError && error.cause instanceof Error) return error.cause
  return asError(error)
}
