import { Agent, request as httpsRequest } from 'node:https'
import { askPeer } from '@skerry/base'
import type { WebhookFields } from './webhook-configuration.ts'

/** Bounds of calls to interpreters' webhooks. */
const interpreterWebhookLimits = Object.freeze({
  /** An answer is at most a status, a patch or a list of objects. */
  answerBytesMax: 4 * 1024 * 1024,
  /** A webhook that names none. */
  timeoutMsDefault: 10_000,
  timeoutMsMax: 30_000,
  /** The authorities whose connections are kept, at most. */
  agentsMax: 50,
  idleSocketsMax: 4,
})

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
export const callInterpreterWebhook: CallWebhook = async (webhook, body, signal) => {
  const url = addressOf(webhook)
  const { timeoutSeconds, clientConfig } = webhook
  const { timeoutMsDefault, timeoutMsMax } = interpreterWebhookLimits
  const timeoutMs = Math.min(
    timeoutSeconds === undefined ? timeoutMsDefault : timeoutSeconds * 1000,
    timeoutMsMax,
  )
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const text = await exchange(
      { url, agent: agentOf(clientConfig.caBundle), body },
      AbortSignal.any([signal, deadline]),
    )
    return JSON.parse(text)
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted) throw new Error(`no answer within ${timeoutMs} ms`, { cause: error })
    if (error instanceof SyntaxError) throw new Error('its answer is no JSON', { cause: error })
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
  if (url?.protocol !== 'https:') throw new Error('its URL is not one of https')
  if (url.username !== '' || url.password !== '') throw new Error('its URL has a user in it')
  return url
}

/** The agents by authority, the least recently used first. */
const agents = new Map<string, Agent>()

function agentOf(caBundle = ''): Agent {
  const agent = agents.get(caBundle) ?? agentFor(caBundle)
  agents.delete(caBundle)
  agents.set(caBundle, agent)
  const [oldest] = agents
  if (agents.size > interpreterWebhookLimits.agentsMax && oldest) {
    agents.delete(oldest[0])
    oldest[1].destroy()
  }
  return agent
}

function agentFor(caBundle: string): Agent {
  const pem = Buffer.from(caBundle, 'base64').toString()
  const options = { keepAlive: true, maxFreeSockets: interpreterWebhookLimits.idleSocketsMax }
  if (pem.trim() === '') return new Agent(options)
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('its caBundle is no PEM')
  return new Agent({ ...options, ca: pem })
}

interface Sent {
  readonly url: URL
  readonly agent: Agent
  readonly body: string
}

async function exchange({ url, agent, body }: Sent, signal: AbortSignal): Promise<string> {
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const { status, bytes } = await askPeer({
    peer: `webhook ${url.host}`,
    request: () => httpsRequest(url, { agent, method: 'POST', headers, signal }),
    body,
    bytesMax: interpreterWebhookLimits.answerBytesMax,
  })
  if (status !== 200) throw new Error(`it answered ${status}`)
  return bytes.toString()
}
