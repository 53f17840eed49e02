import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { test } from 'node:test'
import {
  callApi,
  plainDefinition,
  startTestApiServer,
  watchApi,
  type ApiReply,
  type TestApiServer,
} from '@skerry/testing'
import { startTestExtensionServer, type TestExtensionServer } from '../testing/extension-server.ts'

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'
const widgets = '/apis/widgets.example.com/v1'

async function startServer(extension: TestExtensionServer): Promise<TestApiServer> {
  return startTestApiServer({
    aggregation: { identity: () => extension.identity },
    namespaces: ['default', 'shop'],
  })
}

async function create(server: TestApiServer, path: string, body: unknown): Promise<void> {
  const { status, text } = await callApi(server.transport, { method: 'POST', path, body })
  assert.equal(status, 201, text)
}

/** Creates a service that leads to this machine, and the APIService that names it. */
async function registerWidgets(
  server: TestApiServer,
  extension: { port: number; caBundle: string },
): Promise<void> {
  await create(server, '/api/v1/namespaces/shop/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'widgets', namespace: 'shop' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await create(server, apiServices, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.widgets.example.com' },
    spec: {
      group: 'widgets.example.com',
      version: 'v1',
      groupPriorityMinimum: 2000,
      versionPriority: 20,
      caBundle: extension.caBundle,
      service: { namespace: 'shop', name: 'widgets', port: extension.port },
    },
  })
}

interface Condition {
  type: string
  status: string
  reason: string
  message: string
}

/** Returns the Available condition once it has that reason, by watching the object. */
async function condition(server: TestApiServer, name: string, reason: string): Promise<Condition> {
  const signal = AbortSignal.timeout(10_000)
  const path = `${apiServices}?watch=1&fieldSelector=metadata.name%3D${name}`
  const { body } = await server.transport.send({ method: 'GET', path, headers: {} }, signal)
  let text = ''
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString()
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      const event: { object: { status?: { conditions?: Condition[] } } } = JSON.parse(line)
      const found = event.object.status?.conditions?.find((each) => each.reason === reason)
      if (found) return found
    }
  }
  throw new Error(`Not seen: ${reason}`)
}

const get = (server: TestApiServer, path: string, accept = ''): Promise<ApiReply> =>
  callApi(server.transport, { path, ...(accept === '' ? {} : { headers: { accept } }) })

test('the groups of the server itself are APIServices that are always available', async () => {
  using extension = await startTestExtensionServer()
  await using server = await startServer(extension)
  const local = await condition(server, 'v1.apps', 'Local')
  assert.deepEqual(
    [local.status, local.message],
    ['True', 'Local APIServices are always available'],
  )
  const { text } = await get(server, `${apiServices}/v1.apps`)
  const { metadata, spec } = JSON.parse(text)
  assert.deepEqual(metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' })
  assert.deepEqual(spec, {
    group: 'apps',
    groupPriorityMinimum: 17800,
    version: 'v1',
    versionPriority: 15,
  })
  const items: { metadata: { name: string } }[] = JSON.parse(
    (await get(server, apiServices)).text,
  ).items
  assert.equal(items.length, 21)
})

test('requests for a registered group go to its server, with the user in headers and no credentials', async () => {
  using extension = await startTestExtensionServer()
  await using server = await startServer(extension)
  await registerWidgets(server, extension)
  await condition(server, 'v1.widgets.example.com', 'Passed')
  const reply = await callApi(server.transport, {
    method: 'POST',
    path: `${widgets}/namespaces/shop/widgets?dryRun=All`,
    headers: { authorization: 'Bearer secret', 'x-remote-user': 'root', 'x-remote-extra-a': 'b' },
    body: { kind: 'Widget' },
  })
  assert.equal(reply.status, 200)
  assert.equal(JSON.parse(reply.text).kind, 'Widget')
  const seen = extension.seen.at(-1)
  assert.equal(seen?.url, `${widgets}/namespaces/shop/widgets?dryRun=All`)
  assert.equal(seen?.peer, 'front-proxy-client')
  assert.equal(seen?.body, '{"kind":"Widget"}')
  assert.deepEqual(seen?.headers['x-remote-user'], ['kubernetes-admin'])
  assert.deepEqual(seen?.headers['x-remote-group'], ['system:masters', 'system:authenticated'])
  assert.equal(seen?.headers['x-remote-extra-a'], undefined)
  assert.equal(seen?.headers['authorization'], undefined)
  assert.deepEqual(seen?.headers['x-forwarded-host'], [`localhost:${extension.port}`])
  assert.deepEqual(seen?.headers['x-forwarded-uri'], [`${widgets}/namespaces/shop/widgets`])
})

test('a redirect of an extension server is neither followed nor passed on', async () => {
  using extension = await startTestExtensionServer()
  await using server = await startServer(extension)
  await registerWidgets(server, extension)
  await condition(server, 'v1.widgets.example.com', 'Passed')
  const reply = await get(server, `${widgets}/namespaces/shop/widgets/elsewhere`)
  assert.equal(reply.status, 502)
  assert.match(reply.text, /attempted to redirect this request, which is not permitted/)
})

test('discovery and OpenAPI show the groups that other servers add, at the place of their priority', async () => {
  using extension = await startTestExtensionServer()
  await using server = await startServer(extension)
  await registerWidgets(server, extension)
  await condition(server, 'v1.widgets.example.com', 'Passed')
  const plain: { groups: { name: string }[] } = JSON.parse((await get(server, '/apis')).text)
  assert.equal(plain.groups[0]?.name, 'apiregistration.k8s.io')
  assert.equal(plain.groups.at(-1)?.name, 'widgets.example.com')
  const group = JSON.parse((await get(server, '/apis/widgets.example.com')).text)
  assert.deepEqual(group.preferredVersion, {
    groupVersion: 'widgets.example.com/v1',
    version: 'v1',
  })
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const list = JSON.parse((await get(server, '/apis', accept)).text)
  assert.deepEqual(list.items.at(-1), {
    metadata: { name: 'widgets.example.com' },
    versions: [
      {
        version: 'v1',
        resources: [
          {
            resource: 'widgets',
            responseKind: { group: '', version: '', kind: 'Widget' },
            scope: 'Namespaced',
            singularResource: 'widget',
            verbs: ['get', 'list', 'create'],
            shortNames: ['wi'],
            subresources: [
              {
                subresource: 'scale',
                responseKind: { group: '', version: '', kind: 'Scale' },
                verbs: ['get'],
              },
            ],
          },
        ],
        freshness: 'Current',
      },
    ],
  })
  const v2: { paths: object; definitions: object } = JSON.parse(
    (await get(server, '/openapi/v2')).text,
  )
  assert.ok('/apis/widgets.example.com/v1/widgets' in v2.paths && 'Widget' in v2.definitions)
  assert.ok(!('/apis/other/v1/x' in v2.paths))
  const v3 = await get(server, '/openapi/v3/apis/widgets.example.com/v1')
  assert.equal(v3.text, '{"openapi":"3.0.0"}')
})

test('an upgraded connection is passed through, with the user', async () => {
  using extension = await startTestExtensionServer()
  await using server = await startServer(extension)
  await registerWidgets(server, extension)
  await condition(server, 'v1.widgets.example.com', 'Passed')
  const { ca, cert, key } = server.credentials
  const port = Number(new URL(server.url).port)
  const socket = connect({ port, host: '127.0.0.1', ca, cert, key, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  socket.write(`GET ${widgets}/namespaces/shop/widgets/w/exec HTTP/1.1\r\n`)
  socket.write('Host: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    if (text.endsWith('kubernetes-admin:')) socket.write('ping')
    if (text.endsWith('ping')) socket.destroy()
  })
  await once(socket, 'close')
  assert.match(text, /^HTTP\/1\.1 101 /)
  assert.ok(text.endsWith('hello kubernetes-admin:ping'), text)
})

test('a server that is missing, or is not the one named, is unavailable and says why', async () => {
  using extension = await startTestExtensionServer()
  using stranger = await startTestExtensionServer()
  await using server = await startServer(extension)
  await registerWidgets(server, { port: stranger.port, caBundle: extension.caBundle })
  const { message } = await condition(server, 'v1.widgets.example.com', 'FailedDiscoveryCheck')
  assert.equal(
    message,
    `failing or missing response from https://localhost:${stranger.port}${widgets}: ` +
      `Get "https://localhost:${stranger.port}${widgets}": ` +
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  )
  const reply = await get(server, `${widgets}/widgets`)
  assert.deepEqual([reply.status, reply.text], [503, 'service unavailable\n'])
  const { text } = await get(server, '/metrics')
  assert.match(text, /^aggregator_unavailable_apiservice\{name="v1.widgets.example.com"\} 1$/m)
  const path = '/api/v1/namespaces/shop/services/widgets'
  await callApi(server.transport, { method: 'DELETE', path })
  const gone = await condition(server, 'v1.widgets.example.com', 'ServiceNotFound')
  assert.equal(gone.message, 'service/widgets in "shop" is not present')
})

test('a CRD has its APIService while it exists', async () => {
  using extension = await startTestExtensionServer()
  await using server = await startServer(extension)
  const names = { group: 'example.com', plural: 'things', kind: 'Thing' }
  const things = plainDefinition({ ...names, scope: 'Namespaced' })
  await create(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', things)
  await condition(server, 'v1.example.com', 'Local')
  const { body } = await get(server, `${apiServices}/v1.example.com`)
  assert.equal(body.metadata.labels['kube-aggregator.kubernetes.io/automanaged'], 'true')
  assert.deepEqual([body.spec.groupPriorityMinimum, body.spec.versionPriority], [1000, 100])
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com'
  const signal = AbortSignal.timeout(10_000)
  const watched = `${apiServices}?watch=1&fieldSelector=metadata.name%3Dv1.example.com`
  const events = watchApi(server.transport, watched, signal)
  await callApi(server.transport, { method: 'DELETE', path })
  for await (const { type } of events) if (type === 'DELETED') break
  assert.equal((await get(server, `${apiServices}/v1.example.com`)).status, 404)
})
