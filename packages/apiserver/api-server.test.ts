import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  callApi,
  simulatedClock,
  startTestApiServer,
  watchApi,
  type ApiCall,
  type TestApiServer,
} from '@skerry/testing'

let server: TestApiServer

before(async () => {
  server = await startTestApiServer()
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

const configMaps = '/api/v1/namespaces/default/configmaps'
const call = (request: ApiCall) => callApi(server.transport, request)
const create = (path: string, body: unknown) => call({ method: 'POST', path, body })
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

test('an object is created with identity and read back, and its second create is refused', async () => {
  const created = await create(configMaps, configMap('first', { a: '1' }))
  assert.equal(created.status, 201)
  const { metadata } = created.body
  assert.match(metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
  assert.match(metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.equal(metadata.namespace, 'default')
  assert.equal(metadata.generation, undefined)
  const read = await call({ path: `${configMaps}/first` })
  assert.deepEqual(read.body, created.body)
  const again = await create(configMaps, configMap('first'))
  assert.equal(again.status, 409)
  assert.equal(again.body.reason, 'AlreadyExists')
  assert.equal(again.body.message, 'configmaps "first" already exists')
  assert.deepEqual(again.body.details, { name: 'first', kind: 'configmaps' })
})

test('refusals name the mistake in upstream’s words', async () => {
  const table: readonly [ApiCall, number, string, string][] = [
    [{ path: `${configMaps}/nobody` }, 404, 'NotFound', 'configmaps "nobody" not found'],
    [
      { method: 'POST', path: configMaps, body: { metadata: {} } },
      422,
      'Invalid',
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ],
    [
      { method: 'POST', path: configMaps, body: { metadata: { name: 'x', namespace: 'other' } } },
      400,
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      { method: 'POST', path: configMaps, body: { apiVersion: 'v1', kind: 'Pod' } },
      400,
      'BadRequest',
      'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
    ],
    [
      { method: 'PUT', path: `${configMaps}/a`, body: configMap('b') },
      400,
      'BadRequest',
      'the name of the object (b) does not match the name on the URL (a)',
    ],
    [
      { method: 'PUT', path: `${configMaps}/a`, body: configMap('a') },
      404,
      'NotFound',
      'configmaps "a" not found',
    ],
    [
      { path: `${configMaps}?fieldSelector=foo%3Dbar` },
      400,
      'BadRequest',
      '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    [{ path: '/api/v1/foos' }, 404, 'NotFound', 'the server could not find the requested resource'],
    [
      { method: 'PUT', path: configMaps, body: {} },
      405,
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
    ],
  ]
  for (const [request, status, reason, message] of table) {
    const { body, status: code } = await call(request)
    assert.deepEqual([code, body.reason, body.message], [status, reason, message], request.path)
  }
  const elsewhere = await call({ path: '/apis/nope/v1' })
  assert.deepEqual([elsewhere.status, elsewhere.text], [404, '404 page not found\n'])
})

test('generateName gives each object a name of its own', async () => {
  const body = { metadata: { generateName: 'made-' } }
  const [one, two] = await Promise.all([create(configMaps, body), create(configMaps, body)])
  assert.match(one.body.metadata.name, /^made-[a-z0-9]{5}$/)
  assert.notEqual(one.body.metadata.name, two.body.metadata.name)
})

test('an update with an old resourceVersion is a conflict, and one that changes nothing keeps it', async () => {
  const { body: first } = await create(configMaps, configMap('versions', { a: '1' }))
  const path = `${configMaps}/versions`
  const changed = await call({ method: 'PUT', path, body: { ...first, data: { a: '2' } } })
  assert.equal(changed.status, 200)
  assert.notEqual(changed.body.metadata.resourceVersion, first.metadata.resourceVersion)
  const late = await call({ method: 'PUT', path, body: { ...first, data: { a: '3' } } })
  assert.equal(late.status, 409)
  assert.equal(
    late.body.message,
    'Operation cannot be fulfilled on configmaps "versions": the object has been modified; please apply your changes to the latest version and try again',
  )
  const same = await call({ method: 'PUT', path, body: changed.body })
  assert.equal(same.body.metadata.resourceVersion, changed.body.metadata.resourceVersion)
})

test('every sort of patch changes the fields that it names and nothing else', async () => {
  await create(configMaps, configMap('patched', { keep: 'k', a: '1' }))
  const path = `${configMaps}/patched`
  const patch = (type: string, body: unknown) =>
    call({ method: 'PATCH', path, body, headers: { 'content-type': `application/${type}` } })
  const merged = await patch('merge-patch+json', { data: { a: '2' } })
  assert.deepEqual(merged.body.data, { keep: 'k', a: '2' })
  const strategic = await patch('strategic-merge-patch+json', { data: { a: null, b: '3' } })
  assert.deepEqual(strategic.body.data, { keep: 'k', b: '3' })
  const json = await patch('json-patch+json', [{ op: 'remove', path: '/data/b' }])
  assert.deepEqual(json.body.data, { keep: 'k' })
  const stale = await patch('merge-patch+json', { metadata: { resourceVersion: '1' } })
  assert.equal(stale.status, 409)
  const unknown = await patch('nonsense', {})
  assert.equal(unknown.status, 415)
})

test('server-side apply creates, merges and names the owners of fields that it would take', async () => {
  const path = `${configMaps}/applied`
  const apply = (manager: string, data: Record<string, string>, force = false) =>
    call({
      method: 'PATCH',
      path: `${path}?fieldManager=${manager}&force=${force}`,
      body: { ...configMap('applied'), data },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    })
  assert.equal((await apply('one', { a: '1' })).status, 201)
  assert.equal((await apply('two', { b: '2' })).status, 200)
  const conflict = await apply('two', { a: '9' })
  assert.equal(conflict.status, 409)
  assert.match(conflict.body.message, /conflict with "one".*\.data\.a/)
  const forced = await apply('two', { a: '9' }, true)
  assert.deepEqual(forced.body.data, { a: '9' })
})

test('concurrent patches all arrive', async () => {
  await create(configMaps, configMap('busy'))
  const replies = await Promise.all(
    Array.from({ length: 4 }, (_item, at) =>
      call({
        method: 'PATCH',
        path: `${configMaps}/busy`,
        body: { data: { [`key${at}`]: 'x' } },
        headers: { 'content-type': 'application/merge-patch+json' },
      }),
    ),
  )
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  const { body } = await call({ path: `${configMaps}/busy` })
  assert.deepEqual(Object.keys(body.data).toSorted(), ['key0', 'key1', 'key2', 'key3'])
})

test('dry runs answer as if and change nothing', async () => {
  const created = await create(`${configMaps}?dryRun=All`, configMap('phantom'))
  assert.equal(created.status, 201)
  assert.equal((await call({ path: `${configMaps}/phantom` })).status, 404)
  await create(configMaps, configMap('real'))
  const path = `${configMaps}/real?dryRun=All`
  assert.equal((await call({ method: 'DELETE', path })).status, 200)
  assert.equal((await call({ path: `${configMaps}/real` })).status, 200)
})

test('unknown fields are warned about, refused or ignored, as the client asks', async () => {
  const body = { ...configMap('strange'), nonsense: 1 }
  const strict = await create(`${configMaps}?fieldValidation=Strict`, body)
  assert.equal(strict.status, 400)
  assert.match(strict.body.message, /strict decoding error: unknown field "nonsense"/)
  const warned = await create(`${configMaps}?fieldValidation=Warn`, body)
  assert.equal(warned.status, 201)
  assert.equal(warned.headers['warning'], '299 - "unknown field \\"nonsense\\""')
  assert.equal(warned.body.nonsense, undefined)
})

test('finalizers hold a deleted object until the last one is removed', async () => {
  const held = {
    ...configMap('held'),
    metadata: { name: 'held', finalizers: ['example.com/wait'] },
  }
  await create(configMaps, held)
  const path = `${configMaps}/held`
  const deleted = await call({ method: 'DELETE', path })
  assert.equal(deleted.status, 200)
  assert.ok(deleted.body.metadata.deletionTimestamp)
  const added = await call({
    method: 'PATCH',
    path,
    body: { metadata: { finalizers: ['example.com/wait', 'example.com/more'] } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  assert.equal(added.status, 422)
  const released = await call({
    method: 'PATCH',
    path,
    body: { metadata: { finalizers: null } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  assert.equal(released.status, 200)
  assert.equal((await call({ path })).status, 404)
})

test('a delete may name the UID of the object that it means', async () => {
  const { body } = await create(configMaps, configMap('meant'))
  const path = `${configMaps}/meant`
  const wrong = await call({ method: 'DELETE', path, body: { preconditions: { uid: 'other' } } })
  assert.equal(wrong.status, 409)
  assert.match(wrong.body.message, /the UID in the precondition \(other\) does not match/)
  const right = { preconditions: { uid: body.metadata.uid } }
  const done = await call({ method: 'DELETE', path, body: right })
  assert.deepEqual(
    [done.body.status, done.body.details],
    ['Success', { name: 'meant', kind: 'configmaps', uid: body.metadata.uid }],
  )
})

test('lists come in pages that all show one moment', async () => {
  const path = '/api/v1/namespaces/pages/configmaps'
  await create('/api/v1/namespaces', { metadata: { name: 'pages' } })
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create(path, configMap(name))
  const first = await call({ path: `${path}?limit=2` })
  assert.equal(first.body.metadata.remainingItemCount, 3)
  await call({ method: 'DELETE', path: `${path}/d` })
  await create(path, configMap('cc'))
  const names: string[] = first.body.items.map(
    (item: { metadata: { name: string } }) => item.metadata.name,
  )
  let { continue: token } = first.body.metadata
  while (token) {
    const page = await call({ path: `${path}?limit=2&continue=${encodeURIComponent(token)}` })
    assert.equal(page.body.metadata.resourceVersion, first.body.metadata.resourceVersion)
    for (const item of page.body.items) names.push(item.metadata.name)
    token = page.body.metadata.continue
  }
  assert.deepEqual(names, ['a', 'b', 'c', 'd', 'e'])
})

test('a list at a version that is compacted away is gone', async () => {
  const { body } = await create(configMaps, configMap('compacted'))
  await create(configMaps, configMap('compacted-later'))
  await server.store.compact(await server.store.revision())
  const version = body.metadata.resourceVersion
  const reply = await call({
    path: `${configMaps}?resourceVersion=${version}&resourceVersionMatch=Exact`,
  })
  assert.deepEqual([reply.status, reply.body.reason], [410, 'Expired'])
})

test('deletecollection deletes the objects that the selector names', async () => {
  const path = '/api/v1/namespaces/many/configmaps'
  await create('/api/v1/namespaces', { metadata: { name: 'many' } })
  for (const name of ['x1', 'x2', 'y1']) {
    await create(path, { metadata: { name, labels: { group: name.slice(0, 1) } } })
  }
  const deleted = await call({ method: 'DELETE', path: `${path}?labelSelector=group%3Dx` })
  assert.equal(deleted.body.kind, 'ConfigMapList')
  const left = await call({ path })
  assert.deepEqual(
    left.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['y1'],
  )
})

test('scale reads and writes the replicas of a deployment', async () => {
  const path = '/apis/apps/v1/namespaces/default/deployments'
  await create(path, {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
    },
  })
  const scale = await call({ path: `${path}/web/scale` })
  assert.deepEqual(
    [scale.body.spec, scale.body.status],
    [{ replicas: 1 }, { replicas: 0, selector: 'app=web' }],
  )
  const body = { ...scale.body, spec: { replicas: 3 } }
  assert.equal((await call({ method: 'PUT', path: `${path}/web/scale`, body })).status, 200)
  const { body: deployment } = await call({ path: `${path}/web` })
  assert.deepEqual([deployment.spec.replicas, deployment.metadata.generation], [3, 2])
})

test('a status update changes the status alone, and an update changes everything else', async () => {
  const path = '/apis/apps/v1/namespaces/default/deployments/web'
  const { body } = await call({ path })
  const both = { ...body, spec: { ...body.spec, replicas: 7 }, status: { observedGeneration: 2 } }
  const status = await call({ method: 'PUT', path: `${path}/status`, body: both })
  assert.deepEqual([status.body.spec.replicas, status.body.status.observedGeneration], [3, 2])
  const main = await call({ method: 'PUT', path, body: { ...status.body, status: {} } })
  assert.equal(main.body.status.observedGeneration, 2)
})

test('a deleted namespace waits until its finalizers are removed', async () => {
  await create('/api/v1/namespaces', { metadata: { name: 'leaving' } })
  const path = '/api/v1/namespaces/leaving'
  const deleted = await call({ method: 'DELETE', path })
  assert.deepEqual([deleted.status, deleted.body.status.phase], [200, 'Terminating'])
  const finalized = { ...deleted.body, spec: { finalizers: [] } }
  await call({ method: 'PUT', path: `${path}/finalize`, body: finalized })
  assert.equal((await call({ path })).status, 404)
})

test('an object of one group is seen through the other that shares it', async () => {
  const path = '/api/v1/namespaces/default/events'
  await create(path, {
    metadata: { name: 'happened' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason: 'Because',
    message: 'it did',
  })
  const { body } = await call({ path: '/apis/events.k8s.io/v1/namespaces/default/events/happened' })
  assert.deepEqual(
    [body.apiVersion, body.note, body.regarding.name],
    ['events.k8s.io/v1', 'it did', 'p'],
  )
})

test('a Table shows the columns that kubectl prints', async () => {
  const reply = await call({
    path: `${configMaps}?limit=500`,
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
  })
  assert.equal(reply.body.kind, 'Table')
  const names = reply.body.columnDefinitions.map((column: { name: string }) => column.name)
  assert.deepEqual(names, ['Name', 'Data', 'Age'])
})

test('a watch delivers events, and resumes after any version that it has seen', async () => {
  const path = '/api/v1/namespaces/watched/configmaps'
  await create('/api/v1/namespaces', { metadata: { name: 'watched' } })
  const { body: list } = await call({ path })
  const from = list.metadata.resourceVersion
  await using watch = watched(`${path}?watch=1&resourceVersion=${from}`)
  await create(path, configMap('w', { a: '1' }))
  await call({
    method: 'PATCH',
    path: `${path}/w`,
    body: { data: { a: '2' } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  await call({ method: 'DELETE', path: `${path}/w` })
  const events = await watch.take(3)
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.data.a]),
    [
      ['ADDED', '1'],
      ['MODIFIED', '2'],
      ['DELETED', '2'],
    ],
  )
  const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  )
  await using resumed = watched(`${path}?watch=1&resourceVersion=${versions[0]}`)
  assert.deepEqual(
    (await resumed.take(2)).map(({ type }) => type),
    ['MODIFIED', 'DELETED'],
  )
})

test('objects enter and leave a watch as its selector begins and ceases to match', async () => {
  const path = '/api/v1/namespaces/selected/configmaps'
  await create('/api/v1/namespaces', { metadata: { name: 'selected' } })
  await using watch = watched(`${path}?watch=1&labelSelector=on%3Dyes`)
  await create(path, configMap('s'))
  const label = (on: string | null) =>
    call({
      method: 'PATCH',
      path: `${path}/s`,
      body: { metadata: { labels: { on } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
  await label('yes')
  await label('no')
  assert.deepEqual(
    (await watch.take(2)).map(({ type }) => type),
    ['ADDED', 'DELETED'],
  )
})

test('a watch-list streams the existing objects, marks their end, and goes on', async () => {
  const path = '/api/v1/namespaces/streamed/configmaps'
  await create('/api/v1/namespaces', { metadata: { name: 'streamed' } })
  await create(path, configMap('old'))
  const query =
    'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  await using watch = watched(`${path}?${query}`)
  const [added, bookmark] = await watch.take(2)
  assert.deepEqual([added?.type, added?.object.metadata.name], ['ADDED', 'old'])
  assert.equal(bookmark?.type, 'BOOKMARK')
  assert.equal(bookmark?.object.metadata.annotations['k8s.io/initial-events-end'], 'true')
  await create(path, configMap('new'))
  const [next] = await watch.take(1)
  assert.deepEqual([next?.type, next?.object.metadata.name], ['ADDED', 'new'])
})

test('a watch ends after its timeout with a last bookmark', async () => {
  const clock = simulatedClock(Date.now())
  await using timed = await startTestApiServer({ clock })
  const version = await timed.store.revision()
  const query = `watch=1&timeoutSeconds=30&allowWatchBookmarks=true&resourceVersion=${version}`
  await using watch = watched(`${configMaps}?${query}`, timed)
  await clock.advance(30_000)
  assert.deepEqual(
    (await watch.rest()).map(({ type }) => type),
    ['BOOKMARK'],
  )
})

function watched(path: string, { transport }: TestApiServer = server) {
  const stop = new AbortController()
  const events = watchApi(transport, path, stop.signal)
  // The request is sent now; the server has buffered what is read later.
  const first = events.next()
  let isFirst = true
  const next = () => {
    if (!isFirst) return events.next()
    isFirst = false
    return first
  }
  return {
    async take(count: number) {
      const taken = []
      while (taken.length < count) {
        const { value, done } = await next()
        if (done) break
        taken.push(value)
      }
      return taken
    },
    rest() {
      return this.take(Number.POSITIVE_INFINITY)
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('test is over'))
      await first.catch(() => undefined)
    },
  }
}
