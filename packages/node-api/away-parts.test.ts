import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { test } from 'node:test'
import { errorLogger, until, type ApiReply } from '@skerry/testing'
import { LocalApiScene } from './testing/local-api-scene.ts'

const { log } = errorLogger()
const shop = '/api/v1/namespaces/shop'
const maps = `${shop}/configmaps`
const readMaps = { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }
const mayLog: Rule = { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }
const may = (...resources: string[]): Rule => ({
  apiGroups: [''],
  resources: resources.map((part) => `pods/${part}`),
  verbs: ['create'],
})
const reviewsPath = '/apis/authorization.k8s.io/v1'

interface Rule {
  readonly apiGroups: string[]
  readonly resources: string[]
  readonly verbs: string[]
}

/** A scene in which the node knows the rights of these accounts, each of a pod on it, and the site is away. */
async function awayScene(
  rulesOf: Readonly<Record<string, readonly Rule[]>>,
  prepare: (scene: LocalApiScene) => Promise<void> = () => Promise.resolve(),
): Promise<{ scene: LocalApiScene; tokens: Record<string, string> }> {
  const accounts = Object.keys(rulesOf).map((name) => ({ namespace: 'shop', name }))
  const scene = await LocalApiScene.start({ log, isStarted: false, accounts })
  await scene.register()
  const tokens: Record<string, string> = {}
  for (const [name, rules] of Object.entries(rulesOf)) {
    await scene.account(name, [readMaps, ...rules])
    const { token, pod } = await scene.podWith(name, { nodeName: 'n1' })
    scene.pods.add(pod)
    tokens[name] = token
  }
  await prepare(scene)
  await scene.startNode()
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  for (const token of Object.values(tokens)) await scene.ask(token, { path: maps })
  for (const [name, rules] of Object.entries(rulesOf)) {
    const wanted = rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    )
    await scene.untilKnown(name, 'list configmaps', ...wanted)
  }
  await scene.cut()
  return { scene, tokens }
}

interface Session {
  readonly socket: TLSSocket
  /** Everything that has come so far. */
  said(): string
}

/** Opens a session as kubectl does, and resolves when something has come back. */
async function session(
  scene: LocalApiScene,
  token: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Session> {
  const port = Number(new URL(scene.url).port)
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  let text = ''
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (text += chunk.toString()))
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: node',
    `authorization: Bearer ${token}`,
    'connection: Upgrade',
    'upgrade: SPDY/3.1',
    ...Object.entries({ 'content-length': '0', ...headers }).map((field) => field.join(': ')),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  return { socket, said: () => text }
}

const execOf = (pod: string): string => `${shop}/pods/${pod}/exec?command=sh&stdin=1&stdout=1`

test('while the control plane is away, those who may read logs of pods on the node read them', async () => {
  const { scene, tokens } = await awayScene({ app: [mayLog], other: [] })
  await using _scene = scene
  const path = `${shop}/pods/other/log`
  const { app = '', other = '' } = tokens
  const read = await scene.ask(app, { path: `${path}?tailLines=1` })
  assert.deepEqual([read.status, read.text], [200, 'two\n'])
  const rows: readonly (readonly [token: string, path: string, status: number, why: RegExp])[] = [
    [other, path, 503, /was not seen to have the right to get of pods\/log "other"/],
    [app, `${shop}/pods/gone/log`, 503, /pod shop\/gone is not on this node/],
    [app, `/api/v1/namespaces/kube-system/pods/other/log`, 503, /was not seen to have the right/],
    [
      app,
      `${shop}/pods/other/log?container=none`,
      400,
      /container none is not valid for pod other/,
    ],
    [app, `${shop}/pods/other/log?tailLines=-1`, 422, /must be greater than or equal to 0/],
    [app, `${shop}/pods/other/log/more`, 404, /could not find the requested resource/],
    [app, `${shop}/pods/..%2fother/log`, 503, /./],
    [app, `${shop}/pods/x%2flog/log`, 503, /./],
    [app, `/api/v1/watch/namespaces/shop/pods/other/log`, 404, /./],
    [app, `${shop}/pods/other/exec`, 503, /was not seen to have the right/],
    [`${app}x`, path, 401, /Unauthorized/],
    ['', path, 503, /callers without a bearer token/],
  ]
  for (const [token, asked, status, why] of rows) {
    const reply: ApiReply = await scene.ask(token, { path: asked })
    assert.equal(reply.status, status, `${asked}: ${reply.text}`)
    assert.match(reply.body.message, why)
  }
})

test('while the control plane is away, those who may read a pod of the node read it as it runs', async () => {
  const mayRead = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
  const { scene, tokens } = await awayScene({ app: [mayRead], other: [] })
  await using _scene = scene
  const { app = '', other = '' } = tokens
  const { status, body } = await scene.ask(app, { path: `${shop}/pods/other` })
  assert.equal(status, 200)
  assert.deepEqual([body.kind, body.metadata.name, body.status.phase], ['Pod', 'other', 'Running'])
  assert.equal((await scene.ask(other, { path: `${shop}/pods/other` })).status, 503)
  assert.equal((await scene.ask(app, { path: `${shop}/pods/gone` })).status, 503)
})

test('a session with a pod of the node goes on when the control plane returns, and ends with the right to it', async () => {
  const { scene, tokens } = await awayScene({ app: [may('exec')], other: [] })
  await using _scene = scene
  const { app = '', other = '' } = tokens
  const opened = await session(scene, app, execOf('other'))
  await until(() => opened.said().endsWith('exec sh\n'))
  assert.match(opened.said(), /^HTTP\/1\.1 101 /)
  opened.socket.write('hello')
  await until(() => opened.said().endsWith('hello'))
  const refused = await session(scene, other, execOf('app'))
  assert.match(refused.said(), /^HTTP\/1\.1 503 /)
  const forward = await session(scene, app, `${shop}/pods/other/portforward?ports=80`)
  assert.match(forward.said(), /^HTTP\/1\.1 503 /, 'another subresource is another right')
  const withBody = await session(scene, app, execOf('other'), { 'content-length': '5' })
  assert.match(withBody.said(), /^HTTP\/1\.1 400 /)

  await scene.restore()
  opened.socket.write(' again')
  await until(() => opened.said().endsWith('hello again'))
  const closed = once(opened.socket, 'close')
  const binding = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/app'
  await scene.admin({ method: 'DELETE', path: binding })
  await scene.cut()
  await scene.restore()
  await closed
})

test('a user has a bounded number of sessions at once, and gets another when one ends', async () => {
  const { scene, tokens } = await awayScene({
    app: [may('exec', 'attach', 'portforward')],
    other: [may('exec')],
  })
  await using _scene = scene
  const { app = '', other = '' } = tokens
  const paths = [
    execOf('other'),
    `${shop}/pods/other/attach?stdin=1&stdout=1`,
    `${shop}/pods/other/portforward?ports=80`,
  ]
  const open: Session[] = []
  for (let at = 0; at < 16; at += 1) open.push(await session(scene, app, paths[at % 3] ?? ''))
  for (const each of open) assert.match(each.said(), /^HTTP\/1\.1 101 /)
  const refused = await session(scene, app, execOf('other'))
  assert.match(refused.said(), /^HTTP\/1\.1 429 /)
  const another = await session(scene, other, execOf('app'))
  assert.match(another.said(), /^HTTP\/1\.1 101 /)
  open[0]?.socket.destroy()
  await until(async () => (await session(scene, app, execOf('other'))).said().includes(' 101 '))
  for (const { socket } of [...open, another]) socket.destroy()
})

const askToken: Rule = { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] }

/** Requests a token of an account that is bound to a pod. */
function requestToken(
  scene: LocalApiScene,
  token: string,
  account: string,
  spec: object,
): Promise<ApiReply> {
  const path = `${shop}/serviceaccounts/${account}/token`
  return scene.ask(token, { method: 'POST', path, body: { spec } })
}

test('a token that the node signs while the control plane is away is good on the node, and at the site when it returns', async () => {
  const { scene, tokens } = await awayScene({ app: [askToken], other: [] })
  await using _scene = scene
  const { app = '', other = '' } = tokens
  const to = (name: string, more: object = {}) => ({
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, ...more },
  })
  const given = await requestToken(scene, app, 'other', {
    ...to('other'),
    expirationSeconds: 86_400,
  })
  assert.equal(given.status, 201, given.text)
  const { token, expirationTimestamp } = given.body.status
  assert.ok(Date.parse(expirationTimestamp) <= Date.now() + 3_600_000, 'an hour at most')
  const rows: readonly (readonly [token: string, account: string, spec: object, status: number])[] =
    [
      [app, 'other', {}, 503],
      [app, 'other', to('app'), 400],
      [app, 'other', to('gone'), 503],
      [app, 'other', to('other', { uid: 'another' }), 409],
      [app, 'other', { ...to('other'), audiences: ['bank'] }, 503],
      [app, 'other', { ...to('other'), expirationSeconds: 60 }, 422],
      [other, 'other', to('other'), 503],
    ]
  for (const [bearer, account, spec, status] of rows) {
    const reply = await requestToken(scene, bearer, account, spec)
    assert.equal(reply.status, status, `${JSON.stringify(spec)}: ${reply.text}`)
  }
  assert.equal((await scene.ask(token, { path: maps })).status, 200)
  const own = await requestToken(scene, app, 'app', to('app'))
  const signed: string = own.body.status.token
  assert.equal((await requestToken(scene, signed, 'app', to('app'))).status, 201)
  const more = await requestToken(scene, signed, 'other', to('other'))
  assert.equal(more.status, 403, 'a token of the node brings none of another pod')
  const pod = [...scene.pods].find((each) => each.startsWith('shop/other/')) ?? ''
  scene.pods.delete(pod)
  assert.equal((await scene.ask(token, { path: maps })).status, 401, 'the pod is gone')
  scene.pods.add(pod)
  await scene.restore()
  assert.equal((await scene.ask(token, { path: maps })).status, 200)
  assert.equal((await requestToken(scene, signed, 'other', to('other'))).status, 403)
})

/** Lets the account `app` ask who others are and what they may do. */
async function mayReview(scene: LocalApiScene): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  await scene.admin({
    method: 'POST',
    path: `/apis/${apiGroup}/v1/clusterrolebindings`,
    body: {
      metadata: { name: 'app' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [{ kind: 'ServiceAccount', name: 'app', namespace: 'shop' }],
    },
  })
}

test('while the control plane is away, the node answers questions about identities and rights as the control plane did', async () => {
  const { scene, tokens } = await awayScene({ app: [mayLog], other: [] }, mayReview)
  await using _scene = scene
  const { app = '', other = '' } = tokens
  const mayI = async (token: string, resourceAttributes: object) => {
    const path = `${reviewsPath}/selfsubjectaccessreviews`
    const reply = await scene.ask(token, {
      method: 'POST',
      path,
      body: { spec: { resourceAttributes } },
    })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.status
  }
  const list = { verb: 'list', resource: 'configmaps', namespace: 'shop' }
  assert.equal((await mayI(app, list)).allowed, true)
  const logs = { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'shop', name: 'a' }
  assert.equal((await mayI(app, logs)).allowed, true)
  const unknown = await mayI(app, { ...list, resource: 'secrets' })
  assert.equal(unknown.allowed, false)
  assert.match(unknown.evaluationError, /the control plane is away for \d+ seconds/)
  const authentication = '/apis/authentication.k8s.io/v1'
  const self = await scene.ask(other, {
    method: 'POST',
    path: `${authentication}/selfsubjectreviews`,
    body: {},
  })
  assert.equal(self.body.status.userInfo.username, 'system:serviceaccount:shop:other')
  const review = { method: 'POST', path: `${authentication}/tokenreviews` } as const
  const known = await scene.ask(app, { ...review, body: { spec: { token: other } } })
  assert.equal(known.body.status.user.username, 'system:serviceaccount:shop:other')
  const bad = await scene.ask(app, { ...review, body: { spec: { token: `${other}x` } } })
  assert.equal(bad.body.status.authenticated, undefined)
  const foreign = { spec: { token: other, audiences: ['bank'] } }
  const elsewhere = await scene.ask(app, { ...review, body: foreign })
  assert.equal(elsewhere.body.status.authenticated, undefined)
  const { groups } = self.body.status.userInfo
  const spec = { user: 'system:serviceaccount:shop:other', groups, resourceAttributes: list }
  const path = `${reviewsPath}/subjectaccessreviews`
  const subject = { method: 'POST', path, body: { spec } } as const
  assert.equal((await scene.ask(app, subject)).body.status.allowed, true)
  const alone = { ...subject, body: { spec: { ...spec, groups: [] } } }
  assert.equal((await scene.ask(app, alone)).body.status.allowed, false)
  for (const call of [subject, { ...review, body: { spec: { token: app } } }]) {
    assert.equal((await scene.ask(other, call)).status, 503)
  }
})
