import { messageOf, traceHeaders, type Random, type Span } from '@skerry/base'
import { newUid } from '../contract/uid.ts'
import {
  admissionResponse,
  admissionReview,
  ReviewDecodeError,
  reviewVersionOf,
  type AdmissionResponse,
  type ReviewSubject,
} from '../admission-matching/admission-review.ts'
import { dryRunUnsupported, webhookDenial } from './denial.ts'
import { WebhookSetupError, type WebhookClient } from './webhook-client.ts'
import type { Webhook } from './webhook-source.ts'

/** Reports that no webhook answered properly; the failure policy decides about the request. */
export class WebhookCallError extends Error {
  override name = 'WebhookCallError'

  constructor(webhook: string, why: string, options?: ErrorOptions) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`, options)
  }
}

export interface WebhookCallDeps {
  readonly client: WebhookClient
  readonly random: Random
}

/**
 * Calls one webhook. Resolves if it allows the request. Throws StatusError if it denies,
 * WebhookCallError if it did not answer, and the request's own reason if that ended first.
 */
export async function callWebhook(
  webhook: Webhook,
  subject: ReviewSubject,
  isMutating: boolean,
  deps: WebhookCallDeps,
): Promise<AdmissionResponse> {
  const { request } = subject
  if (request.isDryRun && !['None', 'NoneOnDryRun'].includes(webhook.sideEffects)) {
    throw dryRunUnsupported(webhook.name)
  }
  const version = reviewVersionOf(webhook.reviewVersions)
  if (!version) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    throw new WebhookCallError(webhook.name, `could not create admission objects: ${why}`)
  }
  const uid = newUid(deps.random)
  const body = JSON.stringify(admissionReview(subject, { uid, version }))
  const span = callSpan(webhook, subject, { uid, isMutating })
  const value = await post({ webhook, body, span }, request.signal, deps)
  const response = read(value, { uid, version, isMutating }, webhook)
  for (const [key, text] of Object.entries(response.auditAnnotations)) {
    request.annotate(`${webhook.name}/${key}`, text)
  }
  for (const text of response.warnings) request.warn(text)
  if (!response.isAllowed) throw webhookDenial(webhook.name, response.status)
  return response
}

/** Creates a span like upstream's. Returns undefined if nothing is traced. */
function callSpan(
  { name, configuration }: Webhook,
  { request }: ReviewSubject,
  { uid, isMutating }: { uid: string; isMutating: boolean },
): Span | undefined {
  const { trace, resource, subresource, operation } = request
  return trace?.child(`Call ${isMutating ? 'mutating' : 'validating'} webhook`, {
    kind: 'client',
    attributes: {
      configuration,
      webhook: name,
      resource: `${resource.group}/${resource.version}, Resource=${resource.resource}`,
      subresource,
      operation,
      UID: uid,
    },
  })
}

interface Posted {
  readonly webhook: Webhook
  readonly body: string
  readonly span: Span | undefined
}

async function post(
  { webhook, body, span }: Posted,
  signal: AbortSignal,
  { client }: WebhookCallDeps,
): Promise<unknown> {
  const { address, timeoutMs, name } = webhook
  try {
    return await client.post(
      { address, body, timeoutMs, trace: span && traceHeaders(span.context) },
      signal,
    )
  } catch (error) {
    if (signal.aborted) throw error
    const why = messageOf(error)
    const what =
      error instanceof WebhookSetupError ? 'could not get REST client' : 'failed to call webhook'
    throw new WebhookCallError(name, `${what}: ${why}`, { cause: error })
  } finally {
    span?.end()
  }
}

function read(
  value: unknown,
  asked: Parameters<typeof admissionResponse>[1],
  { name }: Webhook,
): AdmissionResponse {
  try {
    return admissionResponse(value, asked)
  } catch (error) {
    const why = messageOf(error)
    const what =
      error instanceof ReviewDecodeError
        ? 'failed to call webhook'
        : 'received invalid webhook response'
    throw new WebhookCallError(name, `${what}: ${why}`, { cause: error })
  }
}
