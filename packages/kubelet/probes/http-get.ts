import * as http from 'node:http'
import * as https from 'node:https'
import type { Container, EphemeralContainer, HTTPGetAction, IntOrString } from '@skerry/api'

export interface HttpTarget {
  action: HTTPGetAction
  container: Container | EphemeralContainer
  podIp: string
  timeoutMs: number
  userAgent: string
}

export interface HttpAnswer {
  status: number
  /** Cut at 10 KiB, as kubelet does. */
  body: string
}

const bodyBytesMax = 10 * 1024
const redirectsMax = 10

/** Rejects when no answer came in time. Certificates are not checked: the probe looks for life. */
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
    // A redirect to another host says that something here is alive; it is not followed.
    if (!next || next.hostname !== url.hostname) return answer
    url = next
  }
  throw new Error(`stopped after ${redirectsMax} redirects`)
}

function getOnce(
  url: URL,
  { action, timeoutMs, userAgent }: HttpTarget,
  signal: AbortSignal,
): Promise<HttpAnswer & { location?: string }> {
  const headers: Record<string, string> = { 'user-agent': userAgent, accept: '*/*' }
  for (const { name, value } of action.httpHeaders ?? []) headers[name.toLowerCase()] = value
  return new Promise((resolve, reject) => {
    const options = { headers, agent: false, signal, rejectUnauthorized: false }
    const request = (url.protocol === 'https:' ? https : http).get(url, options, (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      const finish = (): void => {
        clearTimeout(timer)
        const { location } = response.headers
        const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0)
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString('utf8').slice(0, bodyBytesMax),
          ...(isRedirect && location !== undefined ? { location } : {}),
        })
        response.destroy()
      }
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes >= bodyBytesMax) finish()
      })
      response.on('end', finish)
      response.on('error', reject)
    })
    const timer = setTimeout(
      () => request.destroy(new Error('context deadline exceeded (Client.Timeout exceeded)')),
      timeoutMs,
    )
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(new Error(`Get "${url.href}": ${error.message}`, { cause: error }))
    })
  })
}

/** A name means the container's port of that name. */
export function portNumber(port: IntOrString, container: Container | EphemeralContainer): number {
  if (typeof port === 'number') return port
  const named = container.ports?.find(({ name }) => name === port)?.containerPort
  const number = named ?? Number(port)
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number
  throw new Error(`couldn't find port: ${port}`)
}
