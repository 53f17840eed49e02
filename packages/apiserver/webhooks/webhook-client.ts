import { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import {
  messageOf,
  abortReason,
  AuthorityAgents,
  linkedSignal,
  postJson,
  type Clock,
  type HeaderRecord,
  type Random,
  type TraceHeaders,
} from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import type { BackendDial } from '../subresources/backend/backend-dial.ts'
import { connectionErrorText } from '../http/connection-error-text.ts'
import { webhookIdentityError } from './server-identity.ts'
import { answerValue } from './webhook-answer.ts'
import {
  hostText,
  urlText,
  webhookTarget,
  type WebhookAddress,
  type WebhookTarget,
} from './webhook-target.ts'
import { webhookLimits } from '../limits-table.ts'

export interface WebhookClientDeps {
  readonly objects: Objects
  readonly clock: Pick<Clock, 'setTimer' | 'sleep'>
  readonly random: Random
  /** Dials pods. Omitted if there is only the machine's own network. */
  readonly dial?: Pick<BackendDial, 'dialAddress'>
  /** The client certificate for webhooks, read for each connection, because certificates are renewed. */
  readonly identity?: () => { readonly certificatePem: string; readonly privateKeyPem: string }
}

export interface WebhookCall {
  readonly address: WebhookAddress
  readonly body: string
  readonly timeoutMs: number
  /** The trace that the call belongs to. If omitted, there is none. */
  readonly trace?: TraceHeaders | undefined
}

export interface WebhookClient {
  /**
   * Resolves to the JSON value of the answer. Throws WebhookSetupError if the configuration is
   * unusable, Error with upstream's words if there is no proper answer in time, and the signal's
   * reason if that aborts first.
   */
  post(call: WebhookCall, signal: AbortSignal): Promise<unknown>
}

/** Reports that the configuration itself is wrong; no webhook was called. */
export class WebhookSetupError extends Error {
  override name = 'WebhookSetupError'
}

/**
 * Creates an HTTPS client with kept-alive connections that trusts only the authorities of each
 * configuration.
 */
export function createWebhookClient(deps: WebhookClientDeps): WebhookClient {
  const agents = new AuthorityAgents({
    agentsMax: webhookLimits.clientsMax,
    notPem: 'unable to load root certificates: unable to parse bytes as PEM block',
  })
  const agentOf = (target: WebhookTarget, caBundle: string | undefined): Agent => {
    const place = `${target.isService ? 'service' : 'url'} ${target.url.host}`
    return agents.of({ caBundle, place }, (trusted) => agentFor(target, trusted, deps))
  }
  return {
    async post({ address, body, timeoutMs, trace = {} }, signal) {
      const { target, agent } = setUp(() => {
        const target = webhookTarget(address)
        return { target, agent: agentOf(target, address.caBundle) }
      })
      const query = `?timeout=${Math.max(1, Math.ceil(timeoutMs / 1000))}s`
      return answerValue(
        await exchange({ target, agent, query, body, timeoutMs, trace, clock: deps.clock }, signal),
      )
    },
  }
}

function setUp<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    const message = messageOf(error)
    throw new WebhookSetupError(message, { cause: error })
  }
}

function agentFor(target: WebhookTarget, ca: { ca?: string }, deps: WebhookClientDeps): Agent {
  const agent = new Agent({
    keepAlive: true,
    maxFreeSockets: webhookLimits.idleConnectionsMax,
    timeout: webhookLimits.idleMs,
  })
  let trusted: SecureContext | undefined
  const secureContext = (): SecureContext => {
    const { certificatePem: cert, privateKeyPem: key } = deps.identity?.() ?? {}
    const options = { allowPartialTrustChain: true, ...ca }
    if (cert === undefined || key === undefined) return (trusted ??= createSecureContext(options))
    return createSecureContext({ ...options, cert, key })
  }
  agent.createConnection = (_options, onMade) => {
    openSocket(target, secureContext, deps).then(
      (socket) => onMade?.(null, socket),
      // Node's types require a stream next to the error; it is never read.
      (error: Error) => onMade?.(error, undefined as unknown as Duplex),
    )
    return undefined
  }
  return agent
}

async function openSocket(
  target: WebhookTarget,
  secureContext: () => SecureContext,
  deps: WebhookClientDeps,
): Promise<Duplex> {
  const { host, port } = target.locate(deps)
  const { serverName } = target
  const names = /^[\d.]+$|:/.test(serverName) ? {} : { servername: serverName }
  const viaPods = target.isService && deps.dial
  // The dial has its own time limit, and callers that wait for the connection have theirs.
  const forever = new AbortController().signal
  const socket = viaPods
    ? { socket: await viaPods.dialAddress({ host, port, isTls: false }, forever) }
    : { host, port }
  return connectTls({
    ...socket,
    ...names,
    secureContext: secureContext(),
    ALPNProtocols: ['http/1.1'],
    checkServerIdentity: (_name, certificate) => webhookIdentityError(serverName, certificate),
  })
}

interface Sent {
  readonly target: WebhookTarget
  readonly agent: Agent
  readonly query: string
  readonly body: string
  readonly timeoutMs: number
  readonly trace: Partial<TraceHeaders>
  readonly clock: WebhookClientDeps['clock']
}

interface Answer {
  readonly status: number
  readonly contentType: string
  /** The Retry-After header, or an empty text. */
  readonly retryAfter: string
  readonly bytes: Buffer
}

async function exchange(sent: Sent, signal: AbortSignal): Promise<Answer> {
  using scope = linkedSignal(signal)
  const deadline = new Error('context deadline exceeded')
  using _timer = sent.clock.setTimer(sent.timeoutMs, () => scope.abort(deadline))
  try {
    for (let retriesLeft: number = webhookLimits.retriesMax; ;) {
      const answer = await attempt(sent, scope.signal)
      const waitMs = retryMsOf(answer)
      if (waitMs === undefined || retriesLeft === 0) return answer
      retriesLeft -= 1
      await sent.clock.sleep(waitMs, scope.signal)
    }
  } catch (error) {
    if (signal.aborted) throw abortReason(signal)
    const cause = scope.signal.aborted ? deadline : error
    const { target, query } = sent
    const port = target.url.port === '' ? 443 : Number(target.url.port)
    const why = connectionErrorText(cause, { host: target.serverName, port })
    throw new Error(`Post ${JSON.stringify(urlText(target, query))}: ${why}`, { cause })
  }
}

/** Returns the delay that a busy server names in seconds; upstream then retries after that time. */
function retryMsOf({ status, retryAfter }: Answer): number | undefined {
  const isBusy = status === 429 || status >= 500
  return isBusy && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : undefined
}

async function attempt(sent: Sent, signal: AbortSignal): Promise<Answer> {
  const { target, agent, query, body, trace } = sent
  const { url, serverName } = target
  const { status, headers, bytes } = await postJson(
    {
      peer: `webhook ${serverName}`,
      to: {
        agent,
        host: serverName,
        port: url.port === '' ? 443 : url.port,
        path: `${url.pathname}${query}`,
      },
      headers: {
        host: hostText(target),
        'user-agent': 'kube-apiserver-admission',
        accept: 'application/json, */*',
        ...trace,
      },
      body,
      bytesMax: webhookLimits.answerBytesMax,
    },
    signal,
  )
  const contentType = textOf(headers['content-type'])
  const retryAfter = textOf(headers['retry-after'])
  return { status, contentType, retryAfter, bytes }
}

function textOf(value: HeaderRecord[string] | undefined): string {
  return typeof value === 'string' ? value : (value?.[0] ?? '')
}
