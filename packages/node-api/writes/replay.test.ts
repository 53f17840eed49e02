import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { errorLogger, until, watchApi, type ApiReply, type JsonReply } from '@skerry/testing'
import { LocalApiScene } from '../testing/local-api-scene.ts'

const { log } = errorLogger()
const maps = '/api/v1/namespaces/shop/configmaps'
const conflicts = '/apis/node.skerry.io/v1alpha1/conflicts'
const pending = 'node.skerry.io/not-accepted'
const map = (name: string, data: Record<string, string>) => ({ metadata: { name }, data })
const merge = { 'content-type': 'application/merge-patch+json' }

/** Starts a node whose pod may write while the site is away, and has listed what is there. */
async function start(
  winner: 'cloud' | 'edge' | 'newest' = 'cloud',
): Promise<{ scene: LocalApiScene; app: string }> {
  const scene = await LocalApiScene.start({ log, isStarted: false, accounts: [shopApp] })
  try {
    await scene.allowOfflineWrites()
    const app = await scene.writer('app', winner)
    for (const name of ['a', 'b', 'c']) {
      await scene.admin({ method: 'POST', path: maps, body: map(name, { color: 'red' }) })
    }
    await scene.startNode()
    await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
    await until(async () => (await countOfSite(scene, 'WATCH', 'offlinewrites')) > 0)
    await scene.untilKnown('app', ...writesOfMaps)
    assert.equal((await scene.ask(app, { path: maps })).body.items.length, 3)
    return { scene, app }
  } catch (error) {
    await scene[Symbol.asyncDispose]()
    throw error
  }
}

const writesOfMaps = ['get', 'create', 'update', 'patch', 'delete'].map(
  (verb) => `${verb} configmaps`,
)

const shopApp = Object.freeze({ namespace: 'shop', name: 'app' })

async function countOfSite(scene: LocalApiScene, verb: string, resource: string): Promise<number> {
  const { text } = await scene.admin({ path: '/metrics' })
  const wanted = new RegExp(`^apiserver_request_total.*verb="${verb}".*resource="${resource}"`)
  const lines = text.split('\n').filter((line) => wanted.test(line))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

function patch(scene: LocalApiScene, token: string, name: string, data: object): Promise<ApiReply> {
  const path = `${maps}/${name}`
  return scene.ask(token, { method: 'PATCH', path, body: { data }, headers: merge })
}

async function siteData(scene: LocalApiScene): Promise<Record<string, object>> {
  const { body } = await scene.admin({ path: maps })
  return dataOf(body.items)
}

function dataOf(items: readonly JsonReply[]): Record<string, object> {
  const shown = items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
  return Object.fromEntries(shown.map(({ metadata, data }) => [metadata.name, data]))
}

async function conflictsOf(scene: LocalApiScene): Promise<JsonReply[]> {
  return (await scene.admin({ path: conflicts })).body.items
}

test('writes while the site is away are seen at once, and reach it in their order when it returns', async () => {
  const { scene, app } = await start()
  await using _scene = scene
  await scene.cut()
  const made = await scene.ask(app, {
    method: 'POST',
    path: maps,
    body: map('d', { color: 'new' }),
  })
  assert.equal(made.status, 201, made.text)
  assert.match(made.headers['warning'] ?? '', /kept on node n1/)
  assert.equal((await patch(scene, app, 'a', { size: 'xl' })).status, 200)
  assert.equal((await scene.ask(app, { method: 'DELETE', path: `${maps}/b` })).status, 200)
  const whole = (await scene.ask(app, { path: `${maps}/c` })).body
  const put = {
    method: 'PUT',
    path: `${maps}/c`,
    body: { ...whole, data: { color: 'put' } },
  } as const
  const replaced = await scene.ask(app, put)
  assert.equal(replaced.status, 200, replaced.text)
  assert.equal((await scene.ask(app, put)).status, 409, 'the version is outdated now')
  const applied = await scene.ask(app, {
    method: 'PATCH',
    path: `${maps}/e?fieldManager=app`,
    body: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'e' },
      data: { color: 'apply' },
    },
    headers: { 'content-type': 'application/apply-patch+yaml' },
  })
  assert.equal(applied.status, 201, applied.text)

  const want = {
    a: { color: 'red', size: 'xl' },
    c: { color: 'put' },
    d: { color: 'new' },
    e: { color: 'apply' },
  }
  const away = await scene.ask(app, { path: maps })
  assert.deepEqual(dataOf(away.body.items), want)
  const changed = away.body.items.map(({ metadata }: JsonReply) => metadata.annotations?.[pending])
  assert.deepEqual(changed, ['n1', 'n1', 'n1', 'n1'])
  await scene.restore()
  await until(async () => JSON.stringify(await siteData(scene)) === JSON.stringify(want))
  assert.deepEqual(await conflictsOf(scene), [])
  const { items } = (await scene.admin({ path: maps })).body
  assert.ok(items.every(({ metadata }: JsonReply) => metadata.annotations?.[pending] === undefined))
  const { managedFields } = items.find(({ metadata }: JsonReply) => metadata.name === 'e').metadata
  assert.deepEqual(
    managedFields.map(({ manager, operation }: JsonReply) => [manager, operation]),
    [['app', 'Apply']],
  )
  // The node follows the site again, and passes writes on.
  await until(async () => {
    const { body } = await scene.ask(app, { path: `${maps}?resourceVersion=0` })
    return body.items?.every(({ metadata }: JsonReply) => !metadata.annotations?.[pending])
  })
  await until(async () => (await patch(scene, app, 'a', { size: 's' })).status === 200)
  assert.deepEqual((await siteData(scene))['a'], { color: 'red', size: 's' })
})

for (const [winner, color] of [
  ['cloud', 'green'],
  ['edge', 'blue'],
] as const) {
  test(`a field that both sides changed becomes a Conflict with both values, and ${winner} wins`, async () => {
    const { scene, app } = await start(winner)
    await using _scene = scene
    await scene.cut()
    assert.equal((await patch(scene, app, 'a', { color: 'blue', edge: '1' })).status, 200)
    const cloud = { color: 'green', cloud: '1' }
    await scene.admin({
      method: 'PATCH',
      path: `${maps}/a`,
      body: { data: cloud },
      headers: merge,
    })
    await scene.restore()
    const [conflict, ...more] = await until(async () => {
      const found = await conflictsOf(scene)
      return found.length > 0 && found
    })
    assert.deepEqual(more, [])
    const { spec } = conflict
    assert.equal(spec.reason, 'Clash')
    assert.equal(spec.winner, winner)
    assert.equal(spec.user, 'system:serviceaccount:shop:app')
    assert.deepEqual(spec.object, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      namespace: 'shop',
      name: 'a',
    })
    assert.deepEqual(
      spec.fields.map(({ path, base, edge, cloud: there }: JsonReply) => [path, base, edge, there]),
      [['.data.color', '"red"', '"blue"', '"green"']],
    )
    const merged = { color, edge: '1', cloud: '1' }
    await until(async () => sameData((await siteData(scene))['a'], merged))
    await until(async () => {
      const { body } = await scene.ask(app, { path: `${maps}/a` })
      return sameData(body.data, merged)
    })
  })
}

function sameData(one: object | undefined, other: object): boolean {
  return isDeepStrictEqual({ ...one }, other)
}

test('a node that was switched off while its site was away still has its writes', async () => {
  const { scene, app } = await start()
  await using _scene = scene
  await scene.cut()
  assert.equal((await patch(scene, app, 'a', { color: 'blue' })).status, 200)
  assert.equal((await scene.ask(app, { method: 'DELETE', path: `${maps}/b` })).status, 200)
  await scene.stopNode()
  await scene.startNode()
  const want = { a: { color: 'blue' }, c: { color: 'red' } }
  const away = await until(async () => {
    const reply = await scene.ask(app, { path: maps })
    return reply.status === 200 && reply
  })
  assert.deepEqual(dataOf(away.body.items), want)
  await scene.restore()
  await until(async () => JSON.stringify(await siteData(scene)) === JSON.stringify(want))
})

test('a watch sees the writes of its node, and never goes back when the site returns', async () => {
  const { scene, app } = await start()
  await using _scene = scene
  const stop = new AbortController()
  using transport = scene.open(app)
  const seen: [string, string, number][] = []
  const list = (await scene.ask(app, { path: maps })).body
  const path = `${maps}?watch=1&resourceVersion=${list.metadata.resourceVersion}`
  const watching = (async () => {
    for await (const { type, object } of watchApi(transport, path, stop.signal)) {
      const { name = '', resourceVersion } = object.metadata ?? {}
      seen.push([type, name, Number(resourceVersion)])
    }
  })()
  await until(async () => (await patch(scene, app, 'c', { color: 'first' })).status === 200)
  await until(() => seen.length === 1)
  await scene.cut()
  assert.equal((await patch(scene, app, 'a', { color: 'blue' })).status, 200)
  assert.equal((await scene.ask(app, { method: 'DELETE', path: `${maps}/b` })).status, 200)
  await until(() => seen.length === 3)
  await scene.restore()
  await until(async () => (await scene.admin({ path: `${maps}/a` })).body.data.color === 'blue')
  // The watch goes on with the site's version of the same object, or ends so that its reader lists again.
  await until(() => seen.length >= 4)
  stop.abort(new Error('the test is over'))
  await watching
  const versions = seen.filter(([type]) => type !== 'ERROR').map(([, , version]) => version)
  assert.deepEqual(
    versions,
    versions.toSorted((one, other) => one - other),
  )
})

test('an object that came and went while the site was away leaves nothing, and later writes go on', async () => {
  const { scene, app } = await start()
  await using _scene = scene
  await scene.cut()
  const made = { method: 'POST', path: maps, body: map('d', { color: 'new' }) } as const
  assert.equal((await scene.ask(app, made)).status, 201)
  assert.equal((await scene.ask(app, { method: 'DELETE', path: `${maps}/d` })).status, 200)
  assert.equal((await patch(scene, app, 'a', { color: 'blue' })).status, 200)
  await scene.restore()
  await until(async () => (await scene.admin({ path: `${maps}/a` })).body.data.color === 'blue')
  assert.equal((await siteData(scene))['d'], undefined)
  assert.deepEqual(await conflictsOf(scene), [])
})

test('replayed writes share their connections', async () => {
  const { scene, app } = await start()
  await using _scene = scene
  await scene.cut()
  const names = Array.from({ length: 24 }, (_, at) => `more-${at}`)
  for (const name of names) {
    const made = { method: 'POST', path: maps, body: map(name, { color: 'new' }) } as const
    assert.equal((await scene.ask(app, made)).status, 201)
  }
  const before = scene.link.connections
  await scene.restore()
  await until(async () => (await siteData(scene))['more-23'] !== undefined)
  const opened = scene.link.connections - before
  assert.ok(opened < names.length, `${opened} connections for ${names.length} writes`)
})

test('a pod that came after its policy may write when the site goes away', async () => {
  const accounts: { namespace: string; name: string }[] = []
  await using scene = await LocalApiScene.start({ log, isStarted: false, accounts })
  await scene.allowOfflineWrites()
  const app = await scene.writer('app')
  await scene.startNode()
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  await until(async () => (await countOfSite(scene, 'WATCH', 'offlinewrites')) > 0)
  await scene.ask(app, { path: maps })
  accounts.push(shopApp)
  await scene.untilKnown('app', ...writesOfMaps)
  await scene.cut()
  const made = await scene.ask(app, {
    method: 'POST',
    path: maps,
    body: map('d', { color: 'new' }),
  })
  assert.equal(made.status, 201, made.text)
})

test('without a policy, or without a token of a pod, the node refuses writes while its site is away', async () => {
  const { scene, app } = await start()
  await using _scene = scene
  const rules = [{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['*'] }]
  const unbound = await scene.account('other', rules)
  await scene.ask(unbound, { path: maps })
  await scene.cut()
  const secrets = '/api/v1/namespaces/shop/secrets'
  for (const [token, call, why] of [
    [unbound, { method: 'POST', path: maps, body: map('x', {}) }, /tokens that are bound to a pod/],
    [app, { method: 'POST', path: secrets, body: map('x', {}) }, /no OfflineWrites policy permits/],
    [app, { method: 'DELETE', path: maps }, /does not accept deletecollection/],
    [app, { method: 'POST', path: '/api/v1/namespaces', body: map('x', {}) }, /no OfflineWrites/],
  ] as const) {
    const refused = await scene.ask(token, call)
    assert.equal(refused.status, 503, refused.text)
    assert.match(refused.body.message, why)
    assert.equal(refused.headers['retry-after'], '10')
  }
  const invalid = await scene.ask(app, {
    method: 'POST',
    path: maps,
    body: { metadata: { name: 'Not A Name' } },
  })
  assert.equal(invalid.status, 422, invalid.text)
  await scene.restore()
  assert.deepEqual(await conflictsOf(scene), [])
})

test('a write that the site refuses is in a Conflict, with the value and the reason', async () => {
  const { scene, app } = await start()
  await using _scene = scene
  await scene.cut()
  assert.equal((await patch(scene, app, 'a', { color: 'blue' })).status, 200)
  const binding = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/app'
  await scene.admin({ method: 'DELETE', path: binding })
  await scene.restore()
  const [{ spec }] = await until(async () => {
    const found = await conflictsOf(scene)
    return found.length > 0 && found
  })
  assert.equal(spec.reason, 'Refused')
  assert.match(spec.message, /cannot get resource "configmaps"/)
  assert.match(spec.fields[0].edge, /"color":"blue"/)
  assert.deepEqual((await siteData(scene))['a'], { color: 'red' })
})

test('a node may report a conflict and not settle it, and only the choice of one changes', async () => {
  const { scene, app } = await start()
  await using _scene = scene
  await scene.cut()
  assert.equal((await patch(scene, app, 'a', { color: 'blue' })).status, 200)
  await scene.admin({
    method: 'PATCH',
    path: `${maps}/a`,
    body: { data: { color: 'green' } },
    headers: merge,
  })
  await scene.restore()
  const [{ metadata }] = await until(async () => {
    const found = await conflictsOf(scene)
    return found.length > 0 && found
  })
  const path = `${conflicts}/${metadata.name}`
  const choose = { method: 'PATCH', path, headers: merge } as const
  const forged = { spec: { choice: { side: 'edge', user: 'somebody', time: 'never' } } }
  const { body } = await scene.admin({ ...choose, body: forged })
  assert.equal(body.spec.choice.user, 'kubernetes-admin')
  assert.match(body.spec.choice.time, /^\d{4}-/)
  await assert.rejects(
    scene.admin({ ...choose, body: { spec: { winner: 'edge' } } }),
    /only spec\.choice may change/,
  )
  const node = scene.site.transportAs({
    name: 'system:node:n1',
    groups: ['system:nodes', 'system:authenticated'],
    extra: {},
  })
  const { status } = await node.send(
    { method: 'DELETE', path, headers: {} },
    new AbortController().signal,
  )
  assert.equal(status, 403)
})
