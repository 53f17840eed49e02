import * as http from 'node:http'
import * as https from 'node:https'
import { abortReason, answerTo, linkedSignal, messageOf, type Clock } from '@skerry/base'
import type { Container, EphemeralContainer, HTTPGetAction, IntOrString } from '@skerry/api'
import { kubeletBounds } from '../limits-table.ts'

export interface HttpTarget {
  action: HTTPGetAction
  container: Container | EphemeralContainer
  podIp: string
  timeoutMs: number
  userAgent: string
  clock: Pick<Clock, 'setTimer'>
}

export interface HttpAnswer {
  status: number
  /** The body, cut at 10 KiB, as kubelet does. */
  body: string
}

const { bodyBytesMax, redirectsMax } = kubeletBounds.httpGet

/** Rejects if no answer comes in time. Certificates are not checked: the probe only looks for life. */
export async function httpGet(target: HttpTarget, signal: AbortSignal): Promise<HttpAnswer> {
  const { action, container, podIp } = target
  const port = portNumber(action.port, container)
  const scheme = (action.scheme ?? 'HTTP').toLowerCase()
  const host = action.host || podIp
  const path = (action.path ?? '/').replace(/^(?!\/)/, '/')
  let url = new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`)
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    const answer = await getOnce(url, target, signal)
    const next = answer.location === undefined ? undefined : new URL(answer.location, url)
    // A redirect to another host shows that something here is alive; it is not followed.
    if (!next || next.hostname !== url.hostname) return answer
    url = next
  }
  throw new Error(`stopped after ${redirectsMax} redirects`)
}

async function getOnce(
  url: URL,
  { action, timeoutMs, userAgent, clock }: HttpTarget,
  signal: AbortSignal,
): Promise<HttpAnswer & { location?: string }> {
  const headers: Record<string, string> = { 'user-agent': userAgent, accept: '*/*' }
  for (const { name, value } of action.httpHeaders ?? []) headers[name.toLowerCase()] = value
  using scope = linkedSignal(signal)
  const options = { headers, agent: false, signal: scope.signal, rejectUnauthorized: false }
  const late = new Error('context deadline exceeded (Client.Timeout exceeded)')
  using _timer = clock.setTimer(timeoutMs, () => scope.abort(late))
  try {
    const request = (url.protocol === 'https:' ? https : http).get(url, options)
    const response = await answerTo(request, `the container at ${url.host}`)
    const { statusCode: status = 0 } = response
    const { location } = response.headers
    const isRedirect = [301, 302, 303, 307, 308].includes(status)
    const body = await readStart(response)
    return { status, body, ...(isRedirect && location !== undefined ? { location } : {}) }
  } catch (error) {
    const cause = scope.signal.aborted ? abortReason(scope.signal) : error
    throw new Error(`Get "${url.href}": ${messageOf(cause)}`, { cause })
  }
}

async function readStart(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    const part = Buffer.from(chunk)
    chunks.push(part)
    bytes += part.length
    if (bytes >= bodyBytesMax) break
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, bodyBytesMax)
}

/** A name means the container's port of that name. */
export function portNumber(port: IntOrString, container: Container | EphemeralContainer): number {
  if (typeof port === 'number') return port
  const named = container.ports?.find(({ name }) => name === port)?.containerPort
  const number = named ?? Number(port)
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number
  throw new Error(`couldn't find port: ${port}`)
}
