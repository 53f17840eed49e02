import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { systemClock, seededRandom } from '@skerry/base'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { ObjectTable } from '../../testing/object-table.ts'
import { subresourceRequest, type SubresourceParts } from '../../testing/subresource-request.ts'
import { wellKnown } from '../../contract/well-known-resources.ts'
import type { SubresourceHandler } from '../../contract/subresource.ts'
import { createDirectDial, type BackendDial } from './backend-dial.ts'
import { createLogHandler } from './pod-log.ts'
import { createPodStreamHandler } from './pod-stream.ts'
import { createNodeProxy, createPodProxy, createServiceProxy } from './proxy.ts'

const dayMs = 86_400_000

/**
 * Creates an authority, a kubelet on loopback that requires its client certificates, and a dialer
 * with one.
 */
async function newKubelet(onUpgrade?: (socket: Duplex, head: Buffer) => void) {
  const nowMs = Date.now()
  const authority = await createAuthority({
    subject: { commonName: 'ca' },
    notBeforeMs: nowMs - dayMs,
    notAfterMs: nowMs + dayMs,
  })
  const issue = async (commonName: string, usage: string) => {
    const { privateKeyPem, publicKeyPem } = await generateKeyPair()
    const certificatePem = await signCertificate(authority, {
      subject: { commonName },
      publicKeyPem,
      notBeforeMs: nowMs - dayMs,
      notAfterMs: nowMs + dayMs,
      keyUsages: ['digitalSignature'],
      extendedUsages: [usage],
      ipAddresses: ['127.0.0.1'],
    })
    return { certificatePem, privateKeyPem }
  }
  const serving = await issue('system:node:n1', 'serverAuth')
  const seen: string[] = []
  const server = https.createServer(
    {
      cert: serving.certificatePem,
      key: serving.privateKeyPem,
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: true,
      allowHalfOpen: true,
    },
    (request, response) => {
      // The server speaks only TLS, so its sockets are TLS sockets.
      const peer = (request.socket as TLSSocket).getPeerCertificate().subject.CN
      seen.push(`${String(peer)} ${request.method} ${request.url} ${request.headers.host}`)
      answerFor(request, response)
    },
  )
  server.on('upgrade', (request, socket: Duplex, head: Buffer) => {
    seen.push(
      `${request.url} ${request.headers.authorization} ${String(request.headers['x-stream-protocol-version'])}`,
    )
    if (request.url?.includes('refuse')) {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno')
      return
    }
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n',
    )
    onUpgrade?.(socket, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = await issue('kube-apiserver-kubelet-client', 'clientAuth')
  const dial = createDirectDial(
    () => ({
      ...client,
      kubeletAuthorityPem: authority.certificatePem,
    }),
    { clock: systemClock },
  )
  return {
    port,
    seen,
    dial,
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function answerFor(request: http.IncomingMessage, response: http.ServerResponse): void {
  const url = request.url ?? ''
  if (url.includes('/waiting')) {
    response
      .writeHead(400)
      .end('container "waiting" in pod "web" is waiting to start: ContainerCreating')
  } else if (url.includes('/broken')) {
    response.writeHead(500).end('disk on fire')
  } else if (request.method === 'POST') {
    request.pipe(response)
  } else response.end('line one\nline two\n')
}

function site(port: number): ObjectTable {
  const pod = (name: string, containers: string[], nodeName?: string) => ({
    metadata: { name, namespace: 'shop' },
    spec: { nodeName, containers: containers.map((container) => ({ name: container })) },
  })
  return new ObjectTable()
    .put(wellKnown.nodes, {
      metadata: { name: 'n1' },
      status: {
        addresses: [
          { type: 'Hostname', address: 'unreachable.invalid' },
          { type: 'InternalIP', address: '127.0.0.1' },
        ],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    })
    .put(wellKnown.pods, pod('web', ['app'], 'n1'))
    .put(wellKnown.pods, pod('two', ['app', 'waiting', 'broken'], 'n1'))
    .put(wellKnown.pods, pod('pending', ['app']))
    .put(wellKnown.pods, pod('lost', ['app'], 'gone'))
}

async function readStream(handler: SubresourceHandler, parts: SubresourceParts): Promise<string> {
  const answer = await handler.serve(subresourceRequest(parts))
  assert.equal(answer.type, 'stream')
  return answer.type === 'stream' ? text(answer.body) : ''
}

test('logs come from the node with the requested options', async () => {
  using kubelet = await newKubelet()
  const query = 'follow=true&tailLines=5&timestamps=false&pretty=true'
  const log = await readStream(createLogHandler({ dial: kubelet.dial, clock: systemClock }), {
    objects: site(kubelet.port),
    name: 'web',
    query,
  })
  assert.equal(log, 'line one\nline two\n')
  assert.deepEqual(kubelet.seen, [
    `kube-apiserver-kubelet-client GET /containerLogs/shop/web/app?follow=true&tailLines=5 127.0.0.1:${kubelet.port}`,
  ])
})

const logRefusals: [name: string, query: string, error: object][] = [
  ['gone', '', { code: 404, message: 'pods "gone" not found' }],
  [
    'two',
    '',
    {
      code: 400,
      message:
        'a container name must be specified for pod two, choose one of: [app waiting broken]',
    },
  ],
  ['two', 'container=x', { code: 400, message: 'container x is not valid for pod two' }],
  ['lost', '', { code: 404, message: 'pods "gone" not found' }],
  [
    'two',
    'container=waiting',
    {
      code: 400,
      message: 'container "waiting" in pod "web" is waiting to start: ContainerCreating',
    },
  ],
  ['two', 'container=broken', { code: 500, message: 'disk on fire' }],
  [
    'web',
    'tailLines=-1',
    {
      code: 422,
      message:
        'PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    },
  ],
]
test('missing logs are refused in the words of upstream or of the kubelet', async () => {
  using kubelet = await newKubelet()
  const objects = site(kubelet.port)
  for (const [name, query, error] of logRefusals) {
    const request = subresourceRequest({ objects, name, query })
    await assert.rejects(
      createLogHandler({ dial: kubelet.dial, clock: systemClock }).serve(request),
      error,
    )
  }
  const pending = await createLogHandler({ dial: kubelet.dial, clock: systemClock }).serve(
    subresourceRequest({ objects, name: 'pending' }),
  )
  assert.equal(pending.status, 204)
})

test('a kubelet that cannot be reached, or is not of our authority, is an error with a reason', async () => {
  using kubelet = await newKubelet()
  using stranger = await newKubelet()
  const refused: BackendDial = {
    ...kubelet.dial,
    dialNode: async () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:1')),
  }
  const request = subresourceRequest({ objects: site(stranger.port), name: 'web' })
  await assert.rejects(createLogHandler({ dial: refused, clock: systemClock }).serve(request), {
    code: 500,
    message: 'error dialing backend: connect ECONNREFUSED 127.0.0.1:1',
  })
  await assert.rejects(
    createLogHandler({ dial: kubelet.dial, clock: systemClock }).serve(request),
    /error dialing backend: .*certificate/,
  )
})

/** Returns the two ends of the client's connection: ours, and the handler's. */
async function newClient() {
  const server = net.createServer({ allowHalfOpen: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const [socket] = (await once(server, 'connection')) as [net.Socket]
  server.close()
  return {
    client,
    socket,
    [Symbol.dispose]() {
      client.destroy()
      socket.destroy()
    },
  }
}

const upgradeHeaders = {
  upgrade: 'SPDY/3.1',
  connection: 'Upgrade',
  authorization: 'Bearer secret',
  'x-stream-protocol-version': 'v4.channel.k8s.io, v3.channel.k8s.io',
}

test('a session passes bytes both ways, and each side may finish first', async () => {
  using kubelet = await newKubelet((socket, head) => {
    socket.write('early:')
    // It answers only when the client has finished, so half-close must get through.
    let said = head.toString()
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    socket.on('end', () => socket.end(`said:${said}`))
  })
  using ends = await newClient()
  const { client, socket } = ends
  const handler = createPodStreamHandler({ dial: kubelet.dial, clock: systemClock }, 'exec')
  const done = handler.upgrade?.(
    subresourceRequest({
      objects: site(kubelet.port),
      name: 'web',
      method: 'POST',
      query: 'command=sh&command=-c&command=a+b&stdin=true&stdout=true&tty=false',
      headers: upgradeHeaders,
    }),
    { socket, head: Buffer.from('first ') },
  )
  client.end('second')
  const answer = await text(client)
  assert.match(answer, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  assert.match(answer, /upgrade: SPDY\/3\.1\r\n/)
  assert.ok(answer.endsWith('said:first second'), answer)
  await done
  assert.deepEqual(kubelet.seen, [
    '/exec/shop/web/app?input=1&output=1&command=sh&command=-c&command=a+b undefined v4.channel.k8s.io, v3.channel.k8s.io',
  ])
})

test('a session ends when the request is aborted, and when the kubelet goes away', async () => {
  let kubeletSide: Duplex | undefined
  using kubelet = await newKubelet((socket) => {
    socket.on('error', () => undefined)
    kubeletSide = socket
  })
  const handler = createPodStreamHandler({ dial: kubelet.dial, clock: systemClock }, 'portforward')
  for (const cut of ['abort', 'kubelet'] as const) {
    using ends = await newClient()
    const scope = new AbortController()
    const done = handler.upgrade?.(
      subresourceRequest({
        objects: site(kubelet.port),
        name: 'web',
        headers: upgradeHeaders,
        signal: scope.signal,
      }),
      { socket: ends.socket, head: new Uint8Array() },
    )
    await once(ends.client, 'data')
    await nextTurn()
    if (cut === 'abort') scope.abort(new Error('the server stops'))
    else {
      kubeletSide?.destroy()
      await once(ends.client, 'end')
      ends.client.end()
    }
    await done
    assert.ok(ends.socket.destroyed, cut)
  }
})

test('a session that is refused gets an ordinary answer on its socket', async () => {
  using kubelet = await newKubelet()
  const cases: [name: string, query: string, answer: RegExp][] = [
    [
      'pending',
      'command=sh&stdout=1',
      /^HTTP\/1\.1 400 [^]*"message":"pod pending does not have a host assigned"/,
    ],
    ['web', 'command=refuse&stdout=1', /^HTTP\/1\.1 403 Forbidden[^]*no$/],
    ['web', 'stdout=1', /you must specify at least one command/],
  ]
  for (const [name, query, answer] of cases) {
    using ends = await newClient()
    await createPodStreamHandler({ dial: kubelet.dial, clock: systemClock }, 'exec').upgrade?.(
      subresourceRequest({ objects: site(kubelet.port), name, query, headers: upgradeHeaders }),
      { socket: ends.socket, head: new Uint8Array() },
    )
    assert.match(await text(ends.client), answer)
  }
  const plain = subresourceRequest({
    objects: site(kubelet.port),
    name: 'web',
    query: 'command=sh&stdout=1',
  })
  await assert.rejects(
    createPodStreamHandler({ dial: kubelet.dial, clock: systemClock }, 'exec').serve(plain),
    {
      code: 400,
      message: 'Upgrade request required',
    },
  )
})

test('proxies pass method, path, query and body on, and credentials never', async () => {
  using kubelet = await newKubelet()
  const objects = site(kubelet.port)
    .put(wellKnown.pods, {
      metadata: { name: 'ip', namespace: 'shop' },
      spec: { containers: [{ name: 'a', ports: [{ containerPort: 8080 }] }] },
      status: { podIP: '10.1.2.3' },
    })
    .put(wellKnown.services, {
      metadata: { name: 'svc', namespace: 'shop' },
      spec: { ports: [{ name: 'web', port: 80 }] },
    })
    .put(wellKnown.endpoints, {
      metadata: { name: 'svc', namespace: 'shop' },
      subsets: [{ addresses: [{ ip: '10.1.2.4' }], ports: [{ name: 'web', port: 8081 }] }],
    })
  const dialled: string[] = []
  const server = http.createServer((request, response) => {
    dialled.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    answerFor(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dial: BackendDial = {
    ...kubelet.dial,
    dialAddress: async (target) => {
      dialled.push(`${target.host}:${target.port} ${target.isTls}`)
      return net.connect(port, '127.0.0.1')
    },
  }
  const deps = { dial, clock: systemClock, random: seededRandom(1) }
  const headers = { authorization: 'Bearer secret', 'content-type': 'text/plain' }
  const parts = { objects, restOfPath: '/a/b', query: 'x=1', headers }
  await readStream(createPodProxy(deps), { ...parts, name: 'ip' })
  const body = Buffer.from('payload')
  const echoed = await readStream(createServiceProxy(deps), {
    ...parts,
    name: 'https:svc:80',
    method: 'POST',
    body,
  })
  assert.equal(echoed, 'payload')
  assert.deepEqual(dialled, [
    '10.1.2.3:8080 false',
    'GET /a/b?x=1 undefined',
    '10.1.2.4:8081 true',
    'POST /a/b?x=1 undefined',
  ])
  await readStream(createNodeProxy(deps), { ...parts, name: 'n1', restOfPath: '/healthz' })
  assert.match(kubelet.seen.join(), /GET \/healthz\?x=1/)
  server.close()
  server.closeAllConnections()
})

test('proxies refuse targets that they may not reach', async () => {
  using kubelet = await newKubelet()
  const objects = site(kubelet.port)
    .put(wellKnown.pods, {
      metadata: { name: 'local', namespace: 'shop' },
      spec: { containers: [] },
      status: { podIP: '127.0.0.1' },
    })
    .put(wellKnown.endpoints, { metadata: { name: 'empty', namespace: 'shop' } })
  const deps = { dial: kubelet.dial, clock: systemClock, random: seededRandom(1) }
  const attempt = (handler: SubresourceHandler, name: string) =>
    handler.serve(subresourceRequest({ objects, name }))
  await assert.rejects(attempt(createPodProxy(deps), 'local'), { message: 'address not allowed' })
  await assert.rejects(attempt(createNodeProxy(deps), 'n1:22'), { message: 'address not allowed' })
  for (const address of [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '::',
    '2130706433',
  ]) {
    const addresses = [{ type: 'InternalIP', address }]
    const daemonEndpoints = { kubeletEndpoint: { Port: kubelet.port } }
    const ports = { status: { addresses, daemonEndpoints } }
    objects.put(wellKnown.nodes, { metadata: { name: 'evil' }, ...ports })
    const refused = { message: 'address not allowed' }
    await assert.rejects(attempt(createNodeProxy(deps), 'evil:22'), refused, address)
  }
  // Another program listens at that address on its kubelet's port: it is not that node's kubelet.
  objects.put(wellKnown.nodes, {
    metadata: { name: 'evil' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
    },
  })
  const onItsPort = subresourceRequest({ objects, name: 'evil', restOfPath: '/pods' })
  await assert.rejects(createNodeProxy(deps).serve(onItsPort), /not of node "evil"/)
  await assert.rejects(attempt(createPodProxy(deps), 'ftp:web:1'), { code: 400 })
  await assert.rejects(attempt(createServiceProxy(deps), 'empty'), {
    code: 503,
    message: 'no endpoints available for service "empty"',
  })
})

test('services/proxy dials nothing of another namespace, whatever is in the endpoints', async () => {
  using kubelet = await newKubelet()
  const secrets = { name: 'theirs', namespace: 'other' }
  const objects = site(kubelet.port)
    .put(wellKnown.pods, { metadata: secrets, status: { podIP: '10.42.0.9' } })
    .put(wellKnown.pods, {
      metadata: { name: 'own', namespace: 'shop' },
      status: { podIP: '10.42.0.8' },
    })
    .put(wellKnown.pods, {
      metadata: { name: 'over', namespace: 'other' },
      status: { podIP: '10.42.0.7', phase: 'Succeeded' },
    })
    .put(wellKnown.nodes, {
      metadata: { name: 'n2' },
      status: { addresses: [{ type: 'InternalIP', address: '192.0.2.2' }] },
    })
    .put(wellKnown.services, {
      metadata: secrets,
      spec: {
        clusterIP: '10.43.0.9',
        clusterIPs: ['10.43.0.9'],
        externalIPs: ['192.0.2.9'],
        ports: [{ port: 80, nodePort: 30080 }],
      },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.10' }] } },
    })
  const dialled: string[] = []
  const dial: BackendDial = {
    ...kubelet.dial,
    dialAddress: async ({ host, port }) => {
      dialled.push(`${host}:${port}`)
      throw new Error('Cannot dial: there is nothing here')
    },
  }
  const services = createServiceProxy({ dial, clock: systemClock, random: seededRandom(1) })
  const attempt = async (ip: string, port: number) => {
    objects.put(wellKnown.endpoints, {
      metadata: { name: 'led', namespace: 'shop' },
      subsets: [{ addresses: [{ ip }], ports: [{ port }] }],
    })
    const request = { objects, name: 'led', restOfPath: '/' }
    await assert.rejects(async () => services.serve(subresourceRequest(request)))
  }
  for (const ip of ['10.42.0.9', '10.43.0.9', '192.0.2.9', '192.0.2.10']) await attempt(ip, 80)
  for (const ip of [
    '::ffff:10.42.0.9',
    '::ffff:a2b:9',
    '0:0:0:0:0:ffff:10.42.0.9',
    '::10.42.0.9',
    '64:ff9b::10.42.0.9',
    '2002:a2a:9::1',
    '010.42.0.9',
  ]) {
    await attempt(ip, 80)
  }
  await attempt('192.0.2.2', 30_080)
  await attempt('::ffff:192.0.2.2', 30_080)
  assert.deepEqual(dialled, [])
  for (const ip of ['10.42.0.8', '10.42.0.7', '198.51.100.1', '192.0.2.2']) await attempt(ip, 80)
  const served = ['10.42.0.8:80', '10.42.0.7:80', '198.51.100.1:80', '192.0.2.2:80']
  assert.deepEqual(dialled, served)
})
