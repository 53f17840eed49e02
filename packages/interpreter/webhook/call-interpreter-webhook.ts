import { Agent } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { AuthorityAgents, linkedSignal, postJson, type Clock } from '@skerry/base'
import type { WebhookFields } from './webhook-configuration.ts'
import { interpreterBounds } from '../limits-table.ts'

const interpreterWebhookLimits = interpreterBounds.callInterpreterWebhook

/** The JSON value that a webhook answers. */
export type CallWebhook = (
  webhook: WebhookFields,
  body: string,
  signal: AbortSignal,
) => Promise<unknown>

/**
 * Posts JSON over HTTPS, trusting only the webhook's own authority if it names one. Follows no redirects.
 * Rejects with an Error that states why there is no answer, or with the signal's reason.
 */
export function createWebhookCaller({ clock }: WebhookCallerDeps): CallWebhook {
  const { agentsMax } = interpreterWebhookLimits
  const agents = new AuthorityAgents({ agentsMax, notPem: 'its caBundle is not PEM' })
  return async (webhook, body, signal) => callWebhook(webhook, { body, agents, clock }, signal)
}

export interface WebhookCallerDeps {
  readonly clock: Pick<Clock, 'setTimer'>
}

interface Call extends WebhookCallerDeps {
  readonly body: string
  readonly agents: AuthorityAgents
}

async function callWebhook(
  webhook: WebhookFields,
  { body, agents, clock }: Call,
  signal: AbortSignal,
): Promise<unknown> {
  const url = addressOf(webhook)
  const { timeoutSeconds, clientConfig } = webhook
  const { timeoutMsDefault, timeoutMsMax } = interpreterWebhookLimits
  const timeoutMs = Math.min(
    timeoutSeconds === undefined ? timeoutMsDefault : timeoutSeconds * 1000,
    timeoutMsMax,
  )
  const late = new Error(`no answer within ${timeoutMs} ms`)
  using scope = linkedSignal(signal)
  using _timer = clock.setTimer(timeoutMs, () => scope.abort(late))
  try {
    const agent = agents.of({ caBundle: clientConfig.caBundle }, agentFor)
    const { status, bytes } = await postJson(
      {
        peer: `webhook ${url.host}`,
        to: { ...urlToHttpOptions(url), agent },
        body,
        bytesMax: interpreterWebhookLimits.answerBytesMax,
      },
      scope.signal,
    )
    if (status !== 200) throw new Error(`it answered ${status}`)
    return JSON.parse(bytes.toString())
  } catch (error) {
    signal.throwIfAborted()
    scope.signal.throwIfAborted()
    if (error instanceof SyntaxError) throw new Error('its answer is not JSON', { cause: error })
    throw error
  }
}

function addressOf({ clientConfig: { url: text, service } }: WebhookFields): URL {
  if (text === undefined) {
    throw new Error(
      `it names ${service ? `service ${service.namespace}/${service.name}` : 'no URL'}, and only a URL can be reached from here`,
    )
  }
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw new Error('its URL is not an https:// URL')
  if (url.username !== '' || url.password !== '') throw new Error('its URL has a user in it')
  return url
}

function agentFor(trusted: { ca?: string }): Agent {
  const { idleSocketsMax: maxFreeSockets } = interpreterWebhookLimits
  return new Agent({ keepAlive: true, maxFreeSockets, ...trusted })
}
