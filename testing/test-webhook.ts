import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'

/** The answer of a webhook: a JSON value, plain text, or a status with a text. */
export type WebhookReply =
  | object
  | string
  | { readonly status: number; readonly text: string; readonly headers?: Record<string, string> }

export interface WebhookRequest {
  /** The path with the query. */
  readonly path: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The common name of the client's certificate; an empty string if it presented none. */
  readonly clientName: string
  /** The number of its connection, counted from 1; always 1 if the client keeps its connection. */
  readonly connection: number
}

export interface TestWebhook extends AsyncDisposable {
  readonly port: number
  /** The URL `https://127.0.0.1:<port>`. */
  readonly url: string
  /** PEM in base64, as in configurations. */
  readonly caBundle: string
  readonly requests: readonly WebhookRequest[]
}

export interface TestWebhookOptions {
  readonly ipAddresses?: readonly string[]
  readonly dnsNames?: readonly string[]
  /** The PEM of an authority whose clients are asked for certificates. */
  readonly clientCa?: string
}

/**
 * Starts a TLS server on loopback that answers as `reply` decides; undefined closes the connection, and a
 * promise that never settles keeps the caller waiting.
 */
export async function startTestWebhook(
  reply: (request: WebhookRequest) => WebhookReply | undefined | Promise<WebhookReply | undefined>,
  options: TestWebhookOptions = {},
): Promise<TestWebhook> {
  const tls = await webhookCertificate(options)
  const requests: WebhookRequest[] = []
  let connections = 0
  const numbers = new WeakMap<object, number>()
  const { clientCa } = options
  const trust = clientCa === undefined ? {} : { ca: clientCa, requestCert: true }
  const server = createServer({ cert: tls.cert, key: tls.key, ...trust }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { socket } = incoming
      if (!numbers.has(socket)) numbers.set(socket, (connections += 1))
      const text = Buffer.concat(chunks).toString()
      // The server speaks TLS only.
      const peer = (socket as TLSSocket).getPeerCertificate()
      const request: WebhookRequest = {
        path: incoming.url ?? '',
        body: text === '' ? undefined : JSON.parse(text),
        headers: incoming.headers,
        clientName: String(peer?.subject?.CN ?? ''),
        connection: numbers.get(socket) ?? 0,
      }
      requests.push(request)
      void Promise.resolve(reply(request)).then((answer) => {
        if (answer === undefined) return socket.destroy()
        const isRefusal = typeof answer === 'object' && 'status' in answer && 'text' in answer
        outgoing.writeHead(isRefusal ? Number(answer.status) : 200, {
          'content-type': isRefusal ? 'text/plain' : 'application/json',
          ...(isRefusal && 'headers' in answer && answer.headers),
        })
        const body = typeof answer === 'string' ? answer : JSON.stringify(answer)
        return outgoing.end(isRefusal ? String(answer.text) : body)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(tls.ca).toString('base64'),
    requests,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Makes the certificate of a TLS server on loopback and the authority that signed it, as PEM. */
export async function webhookCertificate({
  ipAddresses = ['127.0.0.1'],
  dnsNames = ['localhost'],
}: TestWebhookOptions = {}): Promise<{ ca: string; cert: string; key: string }> {
  const nowMs = Date.now()
  const dates = { notBeforeMs: nowMs - 3_600_000, notAfterMs: nowMs + 24 * 3_600_000 }
  const authority = await createAuthority({ subject: { commonName: 'webhook-ca' }, ...dates })
  const keys = await generateKeyPair()
  const cert = await signCertificate(authority, {
    subject: { commonName: 'webhook' },
    publicKeyPem: keys.publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    dnsNames: [...dnsNames],
    ipAddresses: [...ipAddresses],
  })
  return { ca: authority.certificatePem, cert, key: keys.privateKeyPem }
}
