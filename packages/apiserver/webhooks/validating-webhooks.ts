import { runAll } from '@skerry/base'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import type { PluginDeps } from './plugin-deps.ts'
import type { ReviewSubject } from '../admission-matching/admission-review.ts'
import { callWebhook, WebhookCallError, type WebhookCallDeps } from './call-webhook.ts'
import { meetsConditions } from './match-conditions.ts'
import { isExempt, matchRequest } from '../admission-matching/request-match.ts'
import { createWebhookSource, validatingConfigurations, type Webhook } from './webhook-source.ts'

/** ValidatingAdmissionWebhook: all matching webhooks are called at once, and each may refuse. */
export function createValidatingWebhooks(deps: PluginDeps): AdmissionPlugin {
  const { objects, webhooks: client, random } = deps
  const source = createWebhookSource(objects, validatingConfigurations)
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (request) => !request.isInternal && source().length > 0 && !isExempt(request),
    async validate(request) {
      const invocations: Invocation[] = []
      for (const webhook of source()) {
        const subject = await subjectFor(webhook, request, deps)
        if (subject) invocations.push({ webhook, subject })
      }
      if (invocations.length > 0) await askAll(invocations, request, { client, random })
    },
  }
}

interface Invocation {
  readonly webhook: Webhook
  readonly subject: ReviewSubject
}

async function subjectFor(
  webhook: Webhook,
  request: AdmissionRequest,
  deps: PluginDeps,
): Promise<ReviewSubject | undefined> {
  const matched = matchRequest(webhook.criteria, request, deps.objects)
  if (!matched) return undefined
  const { object, oldObject, versions } = request
  const subject = {
    request,
    matched,
    object: object && (await versions.convert(object, matched.kind)),
    oldObject: oldObject && (await versions.convert(oldObject, matched.kind)),
  }
  return (await meetsConditions(webhook, subject, deps)) ? subject : undefined
}

async function askAll(
  invocations: readonly Invocation[],
  request: AdmissionRequest,
  deps: WebhookCallDeps,
): Promise<void> {
  const failures: unknown[] = []
  const ask = async ({ webhook, subject }: Invocation, index: number): Promise<void> => {
    try {
      await callWebhook(webhook, subject, false, deps)
    } catch (error) {
      const isIgnored = error instanceof WebhookCallError && webhook.isFailureIgnored
      if (!isIgnored) failures[index] = error
      else {
        const key = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`
        request.annotate(key, webhook.name)
      }
    }
  }
  // None rejects, so each contributes its warnings and annotations.
  await runAll(
    request.signal,
    invocations.map((invocation, index) => () => ask(invocation, index)),
  )
  const first = failures.find((failure) => failure !== undefined)
  if (first !== undefined) throw first
}
