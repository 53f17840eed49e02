import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { test } from 'node:test'
import { readBody, readLines, type Transport } from '@skerry/client'
import { until } from '@skerry/testing'
import {
  addNamespace,
  addNode,
  startViewScene,
  type Asker,
  type Told,
  type ViewScene,
} from './testing/view-scene.ts'

const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const asMetadata =
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const rbac = 'rbac.authorization.k8s.io'

interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

const namesIn = ({ body }: Told): string[] =>
  (body['items'] as unknown as readonly Named[]).map(({ metadata }) => metadata.name).toSorted()

async function addConfigMap(scene: ViewScene, namespace: string, name: string): Promise<void> {
  await scene.edge.objects.create(
    { group: '', resource: 'configmaps' },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { namespace } },
  )
}

/** Grants rights in the edge, in one of its namespaces or, without one, in all of it. */
async function bind(scene: ViewScene, user: string, role: string, namespace?: string) {
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'
  await scene.edge.objects.create(
    { group: rbac, resource: `${kind.toLowerCase()}s` },
    {
      apiVersion: `${rbac}/v1`,
      kind,
      metadata: { name: user, ...(namespace === undefined ? {} : { namespace }) },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
    },
  )
}

async function startPeopled(): Promise<ViewScene> {
  const scene = await startViewScene()
  for (const cluster of ['east', 'west']) {
    const member = await addNamespace(scene, cluster, 'shop')
    await addConfigMap(scene, member, `till-${cluster}`)
    await addNode(scene, `node-${cluster}`, cluster)
  }
  await addNode(scene, 'node-own')
  await addConfigMap(scene, 'kube-system', 'secret-of-the-edge')
  await until(async () => {
    const { status } = await scene.ask('west', '/api/v1/nodes/node-west')
    return status === 200
  })
  return scene
}

test('a virtual cluster has its own namespaces, objects and nodes, by its own names', async () => {
  await using scene = await startPeopled()
  assert.deepEqual(namesIn(await scene.ask('east', '/api/v1/namespaces')), ['shop'])
  const one = await scene.ask('east', '/api/v1/namespaces/shop/configmaps/till-east')
  assert.equal(one.body['metadata']?.['namespace'], 'shop')
  assert.equal(one.body['data']?.['namespace'], 'shop-east', 'objects that users keep are theirs')
  assert.deepEqual(namesIn(await scene.ask('east', '/api/v1/configmaps')), ['till-east'])
  assert.deepEqual(namesIn(await scene.ask('east', '/api/v1/nodes')), ['node-east'])
  const itself = await scene.ask('east', '/api/v1/namespaces/shop')
  assert.equal(itself.body['metadata']?.['name'], 'shop')
  assert.deepEqual(itself.body['metadata']?.['labels'], { 'kubernetes.io/metadata.name': 'shop' })
  for (const namespace of ['kube-system', 'none', 'shop-west']) {
    const none = await scene.ask('east', `/api/v1/namespaces/${namespace}/configmaps`)
    assert.deepEqual(namesIn(none), [], namespace)
  }
  for (const [path, message] of [
    ['/api/v1/namespaces/kube-system', 'namespaces "kube-system" not found'],
    ['/api/v1/namespaces/none', 'namespaces "none" not found'],
    ['/api/v1/namespaces/shop-west/configmaps/till-west', 'configmaps "till-west" not found'],
    ['/api/v1/nodes/node-west', 'nodes "node-west" not found'],
    ['/api/v1/nodes/node-own', 'nodes "node-own" not found'],
  ] as const) {
    const told = await scene.ask('east', path)
    assert.equal(told.status, 404, path)
    assert.equal(told.body['message'], message)
  }
})

test('Tables, metadata alone and pages show nothing else', async () => {
  await using scene = await startPeopled()
  const headers = { accept: asTable }
  for (const [path, names] of [
    ['/api/v1/namespaces', ['shop']],
    ['/api/v1/nodes', ['node-east']],
    ['/api/v1/configmaps', ['till-east']],
    ['/api/v1/configmaps?includeObject=None', ['till-east']],
  ] as const) {
    const { body } = await scene.ask('east', path, { headers })
    const rows = body['rows'] as unknown as { cells: string[]; object: Named | null }[]
    const shown = rows.map(({ cells }) => cells[0])
    assert.deepEqual(shown, names, path)
    const objects = rows.map(({ object }) => object?.metadata.namespace)
    if (path.includes('configmaps')) {
      assert.deepEqual(objects, [path.includes('None') ? undefined : 'shop'])
    }
  }
  const metadata = await scene.ask('east', '/api/v1/configmaps', {
    headers: { accept: asMetadata },
  })
  assert.equal(metadata.body['kind'], 'PartialObjectMetadataList')
  assert.deepEqual(namesIn(metadata), ['till-east'])

  const seen: string[] = []
  let token = ''
  do {
    const page = await scene.ask('east', `/api/v1/configmaps?limit=1&continue=${token}`)
    assert.equal(page.body['metadata']?.['remainingItemCount'], undefined)
    seen.push(...namesIn(page))
    token = encodeURIComponent(page.body['metadata']?.['continue'] ?? '')
  } while (token !== '')
  assert.deepEqual(seen, ['till-east'])
})

test('the end of a page reveals nothing of others, and a token of others is invalid', async () => {
  await using scene = await startPeopled()
  const path = '/api/v1/configmaps?limit=1'
  const page = await scene.ask('west', path)
  const token = page.body['metadata']?.['continue'] ?? ''
  assert.notEqual(token, '')
  assert.doesNotMatch(Buffer.from(token, 'base64').toString('latin1'), /kube|shop|till/)
  const edges = Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"shop-east/a"}')
  for (const other of [token, edges.toString('base64url')]) {
    const told = await scene.ask('east', `${path}&continue=${other}`)
    assert.equal(told.status, 410)
    assert.equal(told.body['reason'], 'Expired')
  }
})

test("selectors use the virtual cluster's own names of namespaces", async () => {
  await using scene = await startPeopled()
  await addNamespace(scene, 'east', 'office')
  for (const [path, names] of [
    ['configmaps?fieldSelector=metadata.namespace%3Dshop', ['till-east']],
    ['configmaps?fieldSelector=metadata.namespace%3Dshop-east', []],
    ['configmaps?fieldSelector=metadata.namespace%21%3Dkube-system', ['till-east']],
    ['namespaces?fieldSelector=metadata.name%3Dshop', ['shop']],
    ['namespaces?labelSelector=kubernetes.io/metadata.name%20in%20(shop,none)', ['shop']],
    ['nodes?labelSelector=no%3Dsuch', []],
  ] as const) {
    assert.deepEqual(namesIn(await scene.ask('east', `/api/v1/${path}`)), names, path)
  }
})

test('events of its nodes are shown in addition to those of its namespaces', async () => {
  await using scene = await startPeopled()
  const event = (namespace: string, name: string, kind: string, about: string) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name },
    involvedObject: { kind, name: about, ...(kind === 'Node' ? {} : { namespace }) },
    message: `in ${namespace}`,
    reason: 'Seen',
    type: 'Normal',
  })
  for (const each of [
    event('default', 'east-node', 'Node', 'node-east'),
    event('default', 'west-node', 'Node', 'node-west'),
    event('default', 'own-pod', 'Pod', 'node-east'),
    event('shop-east', 'east-pod', 'Pod', 'till'),
    event('shop-west', 'west-pod', 'Pod', 'till'),
  ]) {
    await scene.edge.objects.create({ group: '', resource: 'events' }, each)
  }
  for (const path of ['/api/v1/events', '/apis/events.k8s.io/v1/events']) {
    const { body } = await scene.ask('east', path)
    const items = body['items'] as unknown as readonly (Named & { message?: string })[]
    const shown = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    assert.deepEqual(shown.toSorted(), ['default/east-node', 'shop/east-pod'])
    const table = await scene.ask('east', path, { headers: { accept: asTable } })
    assert.equal((table.body['rows'] as unknown as readonly unknown[]).length, 2)
  }
  const own = await scene.ask('east', '/api/v1/namespaces/shop/events/east-pod')
  assert.equal(own.body['message'], 'in shop')
  assert.equal(own.body['involvedObject']?.['namespace'], 'shop')
})

test('a virtual cluster reads the leases of its own nodes, and of no others', async () => {
  await using scene = await startPeopled()
  for (const name of ['node-east', 'node-west', 'node-own']) {
    const metadata = { namespace: 'kube-node-lease', name }
    await scene.edge.objects.create(
      { group: 'coordination.k8s.io', resource: 'leases' },
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} },
    )
  }
  const root = '/apis/coordination.k8s.io/v1'
  const leases = `${root}/namespaces/kube-node-lease/leases`
  for (const path of [`${root}/leases`, leases]) {
    assert.deepEqual(namesIn(await scene.ask('east', path)), ['node-east'], path)
  }
  assert.equal((await scene.ask('east', `${leases}/node-east`)).status, 200)
  assert.equal((await scene.ask('east', `${leases}/node-west`)).status, 404)
  const gone = await scene.ask('east', `${leases}/node-east`, { method: 'DELETE' })
  assert.equal(gone.status, 404)
  const pods = await scene.ask('east', '/api/v1/namespaces/kube-node-lease/configmaps')
  assert.deepEqual(namesIn(pods), [])
  const { body } = await scene.ask('east', '/api/v1/namespaces')
  assert.doesNotMatch(JSON.stringify(body), /kube-node-lease/)
})

test('a watch of all namespaces brings the events in those of the virtual cluster', async () => {
  await using scene = await startPeopled()
  const list = await scene.ask('east', '/api/v1/configmaps')
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)])
  const version = list.body['metadata']?.['resourceVersion'] ?? ''
  const path = `/api/v1/configmaps?watch=true&resourceVersion=${version}`
  const { status, body } = await scene.open('east', path, { headers: { accept: asTable } }, signal)
  assert.equal(status, 200)
  await addConfigMap(scene, scene.member('west', 'shop'), 'not-seen')
  await addConfigMap(scene, scene.member('east', 'shop'), 'first')
  await addNamespace(scene, 'east', 'later')
  await addConfigMap(scene, scene.member('east', 'later'), 'second')
  const seen: unknown[] = []
  for await (const line of readLines(body)) {
    const { type, object } = JSON.parse(line)
    const [{ cells, object: row }] = object.rows
    seen.push([type, cells[0], row.metadata.namespace, Array.isArray(object.columnDefinitions)])
    if (seen.length === 2) break
  }
  stop.abort()
  assert.deepEqual(seen, [
    ['ADDED', 'first', 'shop', true],
    ['ADDED', 'second', 'later', false],
  ])
})

test('a user with rights in each namespace of a virtual cluster sees all of it, and no more', async () => {
  await using scene = await startPeopled()
  await bind(scene, 'eve', 'view', scene.member('east', 'shop'))
  const eve: Asker = { user: 'eve' }
  assert.deepEqual(namesIn(await scene.ask('east', '/api/v1/configmaps', { as: eve })), [
    'till-east',
  ])
  assert.deepEqual(namesIn(await scene.ask('east', '/api/v1/namespaces', { as: eve })), ['shop'])
  const mayI = await scene.ask('east', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    method: 'POST',
    as: eve,
    body: { spec: { resourceAttributes: { verb: 'list', version: 'v1', resource: 'configmaps' } } },
  })
  assert.equal(mayI.body['status']?.['allowed'], true)
  for (const [cluster, path] of [
    ['east', '/api/v1/secrets'],
    ['east', '/api/v1/nodes'],
    ['west', '/api/v1/configmaps'],
    ['west', '/api/v1/namespaces/shop/configmaps'],
  ] as const) {
    const { status, text } = await scene.ask(cluster, path, { as: eve })
    assert.equal(status, 403, path)
    assert.doesNotMatch(text, /shop-/)
  }
  await addNamespace(scene, 'east', 'office')
  await until(
    async () => (await scene.ask('east', '/api/v1/configmaps', { as: eve })).status === 403,
  )
})

test('a virtual cluster keeps to its answers to can-i', async () => {
  await using scene = await startPeopled()
  await bind(scene, 'eve', 'view', scene.member('east', 'shop'))
  const mayI = async (user: string, resourceAttributes: object): Promise<unknown> => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const body = { spec: { resourceAttributes } }
    const groups = user === 'root' ? ['system:masters'] : []
    const told = await scene.ask('east', path, { method: 'POST', as: { user, groups }, body })
    return told.body['status']?.['allowed']
  }
  const storageClasses = { group: 'storage.k8s.io', resource: 'storageclasses' }
  const table: [user: string, asked: object, isAllowed: boolean][] = [
    ['eve', { verb: 'list', resource: 'configmaps' }, true],
    ['eve', { verb: 'list', resource: 'namespaces' }, true],
    ['eve', { verb: 'list', resource: 'persistentvolumes' }, false],
    ['eve', { verb: 'list', ...storageClasses }, false],
    ['eve', { verb: 'watch', resource: 'nodes' }, false],
    ['root', { verb: 'list', ...storageClasses }, true],
    ['root', { verb: 'create', ...storageClasses }, false],
    ['root', { verb: 'delete', resource: 'persistentvolumes' }, false],
    ['root', { verb: 'create', resource: 'nodes' }, false],
    ['root', { verb: 'patch', resource: 'nodes' }, true],
    ['root', { verb: 'get', resource: 'nodes', subresource: 'proxy' }, false],
    [
      'root',
      { verb: 'create', resource: 'pods', subresource: 'binding', namespace: 'shop' },
      false,
    ],
    ['root', { verb: 'create', resource: 'namespaces' }, true],
    ['root', { verb: 'create', resource: 'pods', namespace: 'shop' }, true],
  ]
  for (const [user, asked, isAllowed] of table) {
    assert.equal(await mayI(user, asked), isAllowed, `${user} ${JSON.stringify(asked)}`)
  }
  for (const path of ['/api/v1/persistentvolumes', '/apis/storage.k8s.io/v1/storageclasses']) {
    const { status } = await scene.ask('east', path, { as: { user: 'eve' } })
    assert.equal(status, 403, path)
  }
})

test('a watch does not show a namespace that appears and in which its reader has no right', async () => {
  await using scene = await startPeopled()
  await bind(scene, 'eve', 'view', scene.member('east', 'shop'))
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)])
  const { body } = await scene.open(
    'east',
    '/api/v1/configmaps?watch=true',
    { as: { user: 'eve' } },
    signal,
  )
  await addNamespace(scene, 'east', 'office')
  await addConfigMap(scene, scene.member('east', 'office'), 'not-hers')
  await addConfigMap(scene, scene.member('east', 'shop'), 'hers')
  const seen: string[] = []
  for await (const line of readLines(body)) {
    seen.push(JSON.parse(line).object.metadata.name)
    if (seen.includes('hers')) break
  }
  stop.abort()
  assert.deepEqual(seen, ['till-east', 'hers'])
})

test("the agent's own rights do not answer for a user whom the operator keeps it from acting for", async () => {
  await using scene = await startViewScene({ users: ['olga'] })
  await addNamespace(scene, 'east', 'shop')
  await bind(scene, 'eve', 'view', scene.member('east', 'shop'))
  const { status, body } = await scene.ask('east', '/api/v1/configmaps', { as: { user: 'eve' } })
  assert.equal(status, 403)
  assert.match(String(body['message']), /does not act as user "eve"/)
})

/** Wraps the edge's transport so that the server of one group of kinds is unreachable. */
function withServerAway(transport: Transport): Transport {
  return {
    async send(request, signal) {
      const answer = await transport.send(request, signal)
      if (request.path !== '/apis') return answer
      const list = JSON.parse(Buffer.from(await readBody(answer.body)).toString('utf8'))
      const away = { version: 'v1', freshness: 'Stale', resources: [] }
      list.items.push({ metadata: { name: 'away.example.com' }, versions: [away] })
      const { 'content-length': _length, ...headers } = answer.headers
      return { ...answer, headers, body: Readable.from([Buffer.from(JSON.stringify(list))]) }
    },
  }
}

test('kinds whose own server is away are not reported as missing', async () => {
  await using scene = await startViewScene(undefined, withServerAway)
  const things = 'namespaces/default/things'
  const { status, body } = await scene.ask('east', `/apis/away.example.com/v1/${things}`)
  assert.equal(status, 503)
  assert.equal(body['reason'], 'ServiceUnavailable')
  assert.match(String(body['message']), /server of away\.example\.com\/v1: it does not answer/)
  for (const absent of ['away.example.com/v2', 'absent.example.com/v1']) {
    assert.equal((await scene.ask('east', `/apis/${absent}/${things}`)).status, 404, absent)
  }
})

test('a long answer is compressed for clients that accept it', async () => {
  await using scene = await startPeopled()
  const data = { text: 'ab'.repeat(100_000) }
  await scene.edge.objects.create(
    { group: '', resource: 'configmaps' },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'shop-east', name: 'long' },
      data,
    },
  )
  const answer = await scene.open('east', '/api/v1/namespaces/shop/configmaps/long', {
    headers: { 'accept-encoding': 'gzip' },
  })
  assert.equal(answer.headers['content-encoding'], 'gzip')
  const body = gunzipSync(await readBody(answer.body)).toString('utf8')
  assert.equal(JSON.parse(body).metadata.namespace, 'shop')
})
