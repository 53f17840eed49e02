import assert from 'node:assert/strict'
import { open, readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node'
import { errorLogger, until, watchApi } from '@skerry/testing'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createInformer, resources } from '@skerry/client'
import { LocalApiScene } from './testing/local-api-scene.ts'

const { log } = errorLogger()
const maps = '/api/v1/namespaces/shop/configmaps'
const readMaps = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]
const map = (name: string, color: string) => ({ metadata: { name }, data: { color } })

test('the control plane answers through the node, as the caller and with its own words', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', [
    ...readMaps,
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  ])
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  const made = await scene.ask(token, { method: 'POST', path: maps, body: map('a', 'red') })
  assert.equal(made.status, 201)
  assert.equal((await scene.ask(token, { path: `${maps}/a` })).body.data.color, 'red')
  const refused = await scene.ask(token, { path: '/api/v1/namespaces/shop/secrets' })
  assert.equal(refused.status, 403)
  assert.match(
    refused.body.message,
    /"system:serviceaccount:shop:app" cannot list resource "secrets"/,
  )
  assert.equal((await scene.ask('bad', { path: maps })).status, 401)
})

test('while the control plane is away, readers get their answers again, and others nothing', async () => {
  await using scene = await LocalApiScene.start({ log })
  const app = await scene.account('app', readMaps)
  const single = await scene.account('single', [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get'] },
  ])
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await scene.admin({ method: 'POST', path: maps, body: map('b', 'blue') })
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  const listed = await scene.ask(app, { path: maps })
  assert.equal(listed.body.items.length, 2)
  assert.equal((await scene.ask(single, { path: `${maps}/a` })).status, 200)
  await scene.ask(app, { path: '/api/v1' })
  await scene.ask(app, { path: `${maps}/b` })
  await scene.cut()

  const away = await scene.ask(app, { path: maps })
  assert.deepEqual(away.body, listed.body)
  assert.match(away.headers['age'] ?? '', /^\d+$/)
  const selected = await scene.ask(app, { path: `${maps}?fieldSelector=metadata.name%3Db` })
  assert.deepEqual(
    selected.body.items.map((item: { data: object }) => item.data),
    [{ color: 'blue' }],
  )
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const table = await scene.ask(app, { path: maps, headers: { accept } })
  assert.deepEqual(
    table.body.rows.map(({ cells }: { cells: unknown[] }) => cells[0]),
    ['a', 'b'],
  )
  const page = await scene.ask(app, { path: `${maps}?limit=1` })
  assert.equal(page.body.items.length, 1)
  const next = await scene.ask(app, {
    path: `${maps}?limit=1&continue=${encodeURIComponent(page.body.metadata.continue)}`,
  })
  assert.equal(next.body.items[0].metadata.name, 'b')
  assert.equal((await scene.ask(app, { path: '/api/v1' })).body.kind, 'APIResourceList')

  assert.equal((await scene.ask(single, { path: `${maps}/a` })).body.data.color, 'red')
  for (const [token, path] of [
    [single, maps],
    [single, `${maps}/b`],
    [app, '/api/v1/namespaces/shop/pods'],
    [app, '/api/v1/configmaps'],
  ] as const) {
    const refused = await scene.ask(token, { path })
    assert.equal(refused.status, 503, path)
    assert.equal(refused.body.reason, 'ServiceUnavailable')
    assert.match(refused.body.message, /the control plane is away for \d+ seconds, and /)
    assert.equal(refused.headers['retry-after'], '10')
  }
  const write = await scene.ask(app, { method: 'POST', path: maps, body: map('c', 'green') })
  assert.equal(write.status, 503)
  assert.match(write.body.message, /this node accepts no writes for it/)
  assert.equal((await scene.ask(`${app}x`, { path: maps })).status, 401)
})

test('an informer goes on through a cut, and catches up without another list', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', readMaps)
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  using transport = scene.open(token)
  const asked: string[] = []
  const counted = {
    send: (...args: Parameters<typeof transport.send>) => {
      asked.push(args[0].path)
      return transport.send(...args)
    },
  }
  const failures: string[] = []
  const deps = {
    clock: systemClock,
    random: systemRandom,
    log: { ...silentLogger, debug: (text: string) => void failures.push(text) },
    userAgent: 'test',
  }
  const cluster = createCluster(counted, { ...deps, log: silentLogger })
  const informer = createInformer(
    cluster.resource(resources.configMaps),
    { namespace: 'shop' },
    deps,
  )
  const stop = new AbortController()
  const running = informer.run(stop.signal).catch(() => undefined)
  await informer.whenSynced(stop.signal)
  await scene.cut()
  await scene.admin({ method: 'POST', path: maps, body: map('b', 'blue') })
  await scene.admin({ method: 'DELETE', path: `${maps}/a` })
  assert.deepEqual(
    informer.list().map(({ metadata }) => metadata.name),
    ['a'],
  )
  await scene.restore()
  await until(
    () =>
      informer
        .list()
        .map(({ metadata }) => metadata.name)
        .join() === 'b',
  )
  assert.deepEqual(failures, [])
  assert.equal(asked.length, 1, 'one watch is all that the informer has asked for')
  stop.abort(new Error('the test is over'))
  await running
})

test('readers of one resource share one watch of the control plane', async () => {
  await using scene = await LocalApiScene.start({ log })
  const tokens = [await scene.account('one', readMaps), await scene.account('two', readMaps)]
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  const before = await countOfSite(scene, 'WATCH', 'configmaps')
  const stop = new AbortController()
  const seen: string[] = []
  const watching = tokens.flatMap((token) =>
    [1, 2].map(async (place) => {
      using transport = scene.open(token)
      const path = `${maps}?watch=1&resourceVersion=0`
      for await (const { object } of watchApi(transport, path, stop.signal)) {
        seen.push(`${place} ${object.metadata.name}`)
      }
    }),
  )
  await until(() => seen.length === 4)
  await scene.admin({ method: 'POST', path: maps, body: map('b', 'blue') })
  await until(() => seen.length === 8)
  assert.equal((await countOfSite(scene, 'WATCH', 'configmaps')) - before, 1)
  stop.abort(new Error('the test is over'))
  await Promise.all(watching)
})

/** Counts the requests that the site has answered. */
async function countOfSite(scene: LocalApiScene, verb: string, resource: string): Promise<number> {
  const { text } = await scene.admin({ path: '/metrics' })
  const wanted = new RegExp(`^apiserver_request_total.*verb="${verb}".*resource="${resource}"`)
  const lines = text.split('\n').filter((line) => wanted.test(line))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

test('a node that starts without its control plane answers from its disk', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', readMaps)
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  const listed = await scene.ask(token, { path: maps })
  await scene.ask(token, { path: `${maps}/a` })
  await scene.stopNode()
  await scene.link.cut()
  await scene.startNode()
  assert.deepEqual((await scene.ask(token, { path: maps })).body, listed.body)
  assert.equal((await scene.ask(token, { path: `${maps}/a` })).body.data.color, 'red')
})

test('a watch that began without the control plane goes on when it returns, after a restart of the node too', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', readMaps)
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  await scene.ask(token, { path: maps })
  await scene.ask(token, { path: `${maps}?watch=1&timeoutSeconds=1` })
  await scene.stopNode()
  await scene.link.cut()
  await scene.startNode()
  const stop = new AbortController()
  const seen: string[] = []
  using transport = scene.open(token)
  const watching = (async () => {
    for await (const { object } of watchApi(transport, `${maps}?watch=1`, stop.signal)) {
      seen.push(object.metadata.name)
    }
  })()
  await until(() => seen.includes('a'))
  await scene.link.restore()
  await scene.admin({ method: 'POST', path: maps, body: map('b', 'blue') })
  await until(() => seen.includes('b'))
  stop.abort(new Error('the test is over'))
  await watching.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
})

test('damaged copies are removed and fetched again', async () => {
  const errors: string[] = []
  const noting = { ...silentLogger, error: (text: string) => void errors.push(text) }
  await using scene = await LocalApiScene.start({ log: noting })
  const token = await scene.account('app', readMaps)
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  await scene.ask(token, { path: maps })
  await scene.stopNode()
  const files = await readdir(scene.directory)
  for (const name of files.filter((each) => each.startsWith('copies.db'))) {
    await using file = await open(join(scene.directory, name), 'r+')
    await file.write(Buffer.alloc(8_192, 0x5a), 0, 8_192, 0)
  }
  await scene.startNode()
  assert.deepEqual(errors, ['Damaged copies are removed, and fetched again'])
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  const again = await scene.ask(token, { path: maps })
  assert.equal(again.body.items?.length, 1, again.text)
  await scene.cut()
  assert.equal((await scene.ask(token, { path: maps })).body.items.length, 1)
})

test('a right that the control plane takes back is gone on the node, too', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', readMaps)
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  await scene.ask(token, { path: `${maps}/none` })
  assert.equal((await scene.ask(token, { path: maps })).status, 200)
  const role = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/app'
  await scene.admin({ method: 'DELETE', path: role })
  await until(async () => (await scene.ask(token, { path: `${maps}?limit=5` })).status === 403)
  await until(async () => (await scene.ask(token, { path: maps })).status === 403)
  await scene.cut()
  assert.equal((await scene.ask(token, { path: maps })).status, 503)
})

test('while the control plane is away, a token of a pod is good as long as the pod is on the node', async () => {
  await using scene = await LocalApiScene.start({ log })
  await scene.account('app', readMaps)
  const { token, pod } = await scene.podWith('app')
  scene.pods.add(pod)
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  assert.equal((await scene.ask(token, { path: maps })).status, 200)
  await scene.cut()
  assert.equal((await scene.ask(token, { path: maps })).status, 200)
  scene.pods.delete(pod)
  assert.equal((await scene.ask(token, { path: maps })).status, 401)
})

test('a watch that began with a right ends when the right is gone', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', readMaps)
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  using transport = scene.open(token)
  const stop = new AbortController()
  const started = Promise.withResolvers<void>()
  const watching = (async () => {
    const path = `${maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`
    for await (const { type } of watchApi(transport, path, stop.signal)) {
      if (type === 'BOOKMARK') started.resolve()
    }
  })()
  await started.promise
  const role = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/app'
  await scene.admin({ method: 'DELETE', path: role })
  await until(
    async () => (await scene.ask(token, { path: `${maps}?watch=1&limit=1` })).status === 403,
  )
  await watching
})

test('a pod has a bounded number of open requests, and is answered again when they end', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', readMaps)
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  const stop = new AbortController()
  using transport = scene.open(token)
  const path = `${maps}?watch=1&resourceVersion=0`
  const open = Array.from({ length: 220 }, async () => {
    const { status, body } = await transport.send({ method: 'GET', path, headers: {} }, stop.signal)
    return { status, body }
  })
  const answers = await Promise.all(open)
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length >= 20, `${refused.length} were refused`)
  stop.abort(new Error('the flood is over'))
  const silent = Array.from({ length: 300 }, () =>
    connect(Number(new URL(scene.url).port), '127.0.0.1'),
  )
  const closed = new Set<Socket>()
  for (const socket of silent) {
    socket.on('error', () => undefined).on('close', () => closed.add(socket))
  }
  await until(() => closed.size >= 44)
  for (const socket of silent) socket.destroy()
  const ask = async () => (await scene.ask(token, { path: maps })).status
  await until(() =>
    ask().then(
      (status) => status === 200,
      () => false,
    ),
  )
})

test('a copy that an operator named answers a pod that never asked before', async () => {
  const kept = [{ group: '', resource: 'configmaps', namespace: 'shop' }]
  const accounts = [{ namespace: 'shop', name: 'app' }]
  await using scene = await LocalApiScene.start({ log, kept, accounts, isStarted: false })
  const app = await scene.account('app', readMaps)
  const other = await scene.account('other', readMaps)
  const node = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:node:n1' }
  await scene.admin({
    method: 'POST',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings',
    body: {
      metadata: { name: 'node' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'app' },
      subjects: [node],
    },
  })
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await scene.startNode()
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  // The keys of tokens come with the first reader.
  await scene.ask(other, { path: `${maps}/a` })
  await until(async () => (await countOfSite(scene, 'WATCH', 'configmaps')) >= 1)
  await scene.untilKnown('app', 'get configmaps', 'list configmaps')
  await scene.ask(other, { path: `${maps}/a` })
  await scene.cut()
  assert.equal((await scene.ask(app, { path: maps })).body.items?.length, 1)
  assert.equal((await scene.ask(app, { path: `${maps}/a` })).body.data?.color, 'red')
  assert.equal((await scene.ask(other, { path: maps })).status, 503)
})

test('informers of client-node go on through a cut without an error', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', readMaps)
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  const config = new KubeConfig()
  const caData = Buffer.from(scene.site.credentials.ca).toString('base64')
  config.loadFromClusterAndUser(
    { name: 'node', server: scene.url, caData, skipTLSVerify: false },
    { name: 'app', token },
  )
  const core = config.makeApiClient(CoreV1Api)
  let lists = 0
  const list = () => {
    lists += 1
    return core.listNamespacedConfigMap({ namespace: 'shop' })
  }
  const informer = makeInformer<V1ConfigMap>(config, maps, list)
  const faults: unknown[] = []
  informer.on('error', (fault) => void faults.push(fault))
  await informer.start()
  const names = (): string =>
    informer
      .list()
      .map(({ metadata }) => metadata?.name)
      .join()
  await until(() => names() === 'a')
  await scene.cut()
  await scene.admin({ method: 'POST', path: maps, body: map('b', 'blue') })
  await scene.admin({ method: 'DELETE', path: `${maps}/a` })
  assert.equal(names(), 'a')
  await scene.restore()
  await until(() => names() === 'b')
  assert.deepEqual(faults, [])
  assert.equal(lists, 1)
  await informer.stop()
})

test('a link that swallows everything is noticed by the first read, which is answered', async () => {
  await using scene = await LocalApiScene.start({ log })
  const token = await scene.account('app', readMaps)
  await scene.admin({ method: 'POST', path: maps, body: map('a', 'red') })
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  await scene.ask(token, { path: maps })
  assert.equal((await scene.ask(token, { path: `${maps}/a` })).status, 200)
  scene.link.swallow()
  const answer = await scene.ask(token, { path: `${maps}/a` })
  assert.equal(answer.body.data?.color, 'red', answer.text)
  assert.equal((await scene.ask(token, { path: maps })).body.items?.length, 1)
})
