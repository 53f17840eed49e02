import { Agent, request as httpsRequest } from 'node:https'
import { askPeer, linkedSignal, type Clock } from '@skerry/base'
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
export function createWebhookCaller({ clock }: WebhookCallerDeps): CallWebhook {
  const agents = new WebhookAgents()
  return async (webhook, body, signal) => callWebhook(webhook, { body, agents, clock }, signal)
}

export interface WebhookCallerDeps {
  readonly clock: Pick<Clock, 'setTimer'>
}

interface Call extends WebhookCallerDeps {
  readonly body: string
  readonly agents: WebhookAgents
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
    const agent = agents.of(clientConfig.caBundle)
    const text = await exchange({ url, agent, body }, scope.signal)
    return JSON.parse(text)
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

/** Keeps connections by the authority that they trust, and drops those of the least recently used one. */
class WebhookAgents {
  /** The agents in the order of use. */
  readonly #agents = new Map<string, Agent>()

  of(caBundle = ''): Agent {
    const agent = this.#agents.get(caBundle) ?? agentFor(caBundle)
    this.#agents.delete(caBundle)
    this.#agents.set(caBundle, agent)
    const [oldest] = this.#agents
    if (this.#agents.size > interpreterWebhookLimits.agentsMax && oldest) {
      this.#agents.delete(oldest[0])
      oldest[1].destroy()
    }
    return agent
  }
}

function agentFor(caBundle: string): Agent {
  const pem = Buffer.from(caBundle, 'base64').toString()
  const options = { keepAlive: true, maxFreeSockets: interpreterWebhookLimits.idleSocketsMax }
  if (pem.trim() === '') return new Agent(options)
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('its caBundle is not PEM')
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
