import type { OutgoingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import { systemClock } from '@skerry/base'
import { loadKubeconfig } from '@skerry/client'

export interface RawAnswer {
  readonly status: number
  readonly body: Buffer
}

/**
 * A client over HTTP/1.1 that reuses its connections. It does as little work as possible between the
 * measurement and the server, and the same for every server.
 */
export interface RawClient {
  /** If `accept` is omitted, the answer is JSON. */
  get(path: string, accept?: string): Promise<RawAnswer>
  send(method: string, path: string, body: unknown, contentType?: string): Promise<RawAnswer>
  /** Opens a separate connection. Passes the body's bytes to `onData` as they arrive, until `close`. */
  open(path: string, onData: (chunk: Buffer) => void): Promise<Disposable>
  close(): void
}

export async function openRawClient(
  kubeconfig: string,
  { localAddress }: { localAddress?: string } = {},
): Promise<RawClient> {
  const { transport } = await loadKubeconfig(
    kubeconfig,
    {},
    { clock: systemClock, environment: {} },
  )
  const credentials = (await transport.credentials?.(AbortSignal.timeout(10_000))) ?? {}
  const { certificate, key, bearerToken } = credentials
  const tls = {
    ca: transport.certificateAuthority,
    cert: certificate,
    key,
    rejectUnauthorized: transport.isTlsVerifySkipped !== true,
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 512, localAddress, ...tls })
  const server = new URL(transport.server)
  const base: Target = {
    host: server.hostname,
    port: server.port,
    headers: {
      accept: 'application/json',
      ...(bearerToken === undefined ? {} : { authorization: `Bearer ${bearerToken}` }),
    },
  }
  const send: RawClient['send'] = (method, path, body, contentType = 'application/json') =>
    exchange({ ...base, agent, method, path }, body, contentType)
  return {
    get: (path, accept = base.headers.accept) =>
      exchange(
        { ...base, headers: { ...base.headers, accept }, agent, method: 'GET', path },
        undefined,
        '',
      ),
    send,
    open: (path, onData) => openStream({ ...base, ...tls, agent: false, path }, onData),
    close: () => agent.destroy(),
  }
}

interface Target extends RequestOptions {
  readonly headers: OutgoingHttpHeaders
}

function exchange(options: Target, body: unknown, contentType: string): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const headers =
    bytes === undefined
      ? options.headers
      : { ...options.headers, 'content-type': contentType, 'content-length': bytes.length }
  const request = httpsRequest({ ...options, headers }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => void chunks.push(chunk))
    response.once('error', reject)
    response.once('end', () =>
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }),
    )
  })
  request.once('error', reject)
  request.end(bytes)
  return promise
}

function openStream(options: RequestOptions, onData: (chunk: Buffer) => void): Promise<Disposable> {
  const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
  const request = httpsRequest(options, (response) => {
    if (response.statusCode !== 200) {
      reject(new Error(`Cannot watch ${options.path}: status ${response.statusCode}`))
      return
    }
    response.on('data', onData)
    response.on('error', () => request.destroy())
    resolve({ [Symbol.dispose]: () => void request.destroy() })
  })
  request.on('error', reject)
  request.end()
  return promise
}
