import { once } from 'node:events'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'

/** A request that the server received. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly peer: string
  readonly headers: Readonly<NodeJS.Dict<string[]>>
  readonly body: string
}

export interface TestExtensionServer extends Disposable {
  readonly port: number
  readonly seen: SeenRequest[]
  /** base64, as in an APIService. */
  readonly caBundle: string
  /** The client certificate of its own calls, issued by `proxyAuthorityPem`. */
  readonly identity: { readonly certificatePem: string; readonly privateKeyPem: string }
  readonly proxyAuthorityPem: string
}

/** Serves widgets.example.com/v1 over TLS under the name of the service `widgets` in `shop`. */
export async function startTestExtensionServer(): Promise<TestExtensionServer> {
  const dates = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }
  const authority = await createAuthority({ subject: { commonName: 'front-proxy-ca' }, ...dates })
  const issue = async (commonName: string, usage: 'serverAuth' | 'clientAuth') => {
    const { privateKeyPem, publicKeyPem } = await generateKeyPair()
    const certificatePem = await signCertificate(authority, {
      subject: { commonName },
      publicKeyPem,
      ...dates,
      keyUsages: ['digitalSignature'],
      extendedUsages: [usage],
      dnsNames: usage === 'serverAuth' ? ['widgets.shop.svc'] : [],
    })
    return { certificatePem, privateKeyPem }
  }
  const own = await issue('widgets', 'serverAuth')
  const seen: SeenRequest[] = []
  const server = https.createServer(
    {
      cert: own.certificatePem,
      key: own.privateKeyPem,
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        // node:https hands out TLS sockets.
        const peer = String((request.socket as TLSSocket).getPeerCertificate().subject?.CN)
        const { method = '', url = '', headersDistinct } = request
        seen.push({ method, url, peer, headers: headersDistinct, body })
        const [status, value] = answers(url)
        const location = url.includes('/elsewhere') ? { location: 'https://10.0.0.1/' } : {}
        response.writeHead(status, { 'content-type': 'application/json', ...location })
        response.end(JSON.stringify(value))
      })
    },
  )
  server.on('upgrade', (request, socket: Duplex) => {
    const user = request.headers['x-remote-user']
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.write(`hello ${String(user)}:`)
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    port,
    seen,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
    identity: await issue('front-proxy-client', 'clientAuth'),
    proxyAuthorityPem: authority.certificatePem,
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const widget = { apiVersion: 'widgets.example.com/v1', kind: 'Widget', metadata: { name: 'w' } }

function answers(url: string): [number, unknown] {
  const path = url.split('?')[0] ?? ''
  if (path === '/apis/widgets.example.com/v1') {
    return [
      200,
      {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: 'widgets.example.com/v1',
        resources: [
          {
            name: 'widgets',
            singularName: 'widget',
            namespaced: true,
            kind: 'Widget',
            verbs: ['get', 'list', 'create'],
            shortNames: ['wi'],
          },
          {
            name: 'widgets/scale',
            singularName: '',
            namespaced: true,
            kind: 'Scale',
            verbs: ['get'],
          },
        ],
      },
    ]
  }
  if (path === '/openapi/v3') {
    const serverRelativeURL = '/openapi/v3/apis/widgets.example.com/v1?hash=1'
    return [200, { paths: { 'apis/widgets.example.com/v1': { serverRelativeURL } } }]
  }
  if (path === '/openapi/v3/apis/widgets.example.com/v1') return [200, { openapi: '3.0.0' }]
  if (path === '/openapi/v2') {
    return [
      200,
      {
        paths: { '/apis/widgets.example.com/v1/widgets': {}, '/apis/other/v1/x': {} },
        definitions: { Widget: { type: 'object' } },
      },
    ]
  }
  if (path.includes('/elsewhere')) return [302, {}]
  if (path.includes('/widgets')) return [200, widget]
  return [404, { kind: 'Status', status: 'Failure', code: 404 }]
}
