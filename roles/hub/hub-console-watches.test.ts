import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { clusterResource } from '@skerry/fleet-kinds'
import { createUserToken } from '../admin/user-tokens.ts'
import { openTestBrowser, type TestBrowser } from '../../testing/scenes/test-browser.ts'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { until } from '../../testing/until.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const olga = { commonName: 'olga', organizations: ['system:masters'] }
const session = '/hub/v1/session'
const configMaps = '/api/v1/namespaces/default/configmaps'

let fleet: TestHub

before(async () => {
  fleet = await startTestHub({ accessCheckMs: 300 })
})
after(() => fleet[Symbol.asyncDispose]())

async function logIn(as: { readonly name: string; readonly groups?: string[] } | 'olga') {
  const browser = openTestBrowser(
    fleet,
    as === 'olga' ? await fleet.credentialsOf(olga) : undefined,
  )
  const json = as === 'olga' ? {} : { token: await tokenOf(as.name, as.groups) }
  assert.equal((await browser.ask({ method: 'POST', path: session, json })).status, 201)
  return browser
}

async function tokenOf(name: string, groups: string[] = []): Promise<string> {
  const wanted = { name, groups, ttlMs: 600_000 }
  return (await createUserToken(fleet.admin, wanted, Date.now(), soon())).token
}

async function makeMap(browser: TestBrowser, name: string): Promise<void> {
  const json = { metadata: { name, labels: { a: 'b' } }, data: { key: name } }
  const made = await browser.ask({ method: 'POST', path: configMaps, json })
  assert.equal(made.status, 201)
}

test('one stream carries a list, its changes and a Table, as the server has them', async () => {
  const browser = await logIn('olga')
  await makeMap(browser, 'first')
  using tab = await browser.watches()
  tab.send({ open: 1, path: `${configMaps}?labelSelector=a%3Db`, table: false })
  tab.send({ open: 2, path: configMaps, table: true })
  const list = await tab.until(
    ({ id, snapshot, last }) => id === 1 && snapshot !== undefined && !!last,
  )
  assert.deepEqual(
    list.snapshot?.map(({ metadata, data }) => [metadata?.name, data?.['key']]),
    [['first', 'first']],
  )
  assert.equal(list.snapshot?.[0]?.metadata?.['managedFields'], undefined)
  const table = await tab.until(({ id, snapshot }) => id === 2 && snapshot !== undefined)
  assert.deepEqual(
    table.columns?.map(({ name }) => name),
    ['Name', 'Data', 'Age'],
  )
  const row = table.snapshot?.find(({ metadata }) => metadata?.name === 'first')
  assert.deepEqual(Object.keys(row ?? {}).toSorted(), ['cells', 'metadata'])
  assert.ok(!('annotations' in (row?.metadata ?? {})))
  await tab.until(({ id, state }) => id === 1 && state === 'live')
  await tab.until(({ id, state }) => id === 2 && state === 'live')
  await makeMap(browser, 'second')
  for (const id of [1, 2]) {
    const { events, resourceVersion } = await tab.until(
      (frame) => frame.id === id && (frame.events?.length ?? 0) > 0,
    )
    assert.deepEqual([events?.[0]?.t, events?.[0]?.o.metadata?.name], ['A', 'second'])
    assert.match(resourceVersion ?? '', /^\d+$/)
  }
  await browser.ask({ method: 'DELETE', path: `${configMaps}/second` })
  const isGone = ({ t, o }: { t: string; o: { metadata?: { name?: string } } }): boolean =>
    t === 'D' && o.metadata?.name === 'second'
  await tab.until(({ id, events }) => id === 1 && events?.some(isGone) === true)
  assert.ok(tab.frames.some(({ beat }) => typeof beat === 'number'))
})

test('a tab goes on at its revision, and gets a new snapshot if the server no longer has that', async () => {
  const browser = await logIn('olga')
  using first = await browser.watches()
  first.send({ open: 1, path: configMaps })
  const { resourceVersion } = await first.until(({ last }) => last === true)
  await makeMap(browser, 'while-asleep')
  using second = await browser.watches()
  second.send({ open: 7, path: configMaps, resourceVersion })
  const { events } = await second.until(({ events }) => (events?.length ?? 0) > 0)
  assert.equal(events?.[0]?.o.metadata?.name, 'while-asleep')
  assert.ok(!second.frames.some(({ snapshot }) => snapshot !== undefined))
  second.send({ open: 8, path: configMaps, resourceVersion: '99999999' })
  await second.until(({ id, snapshot }) => id === 8 && snapshot !== undefined)
})

test('a watch is refused by the rights of its user, and others go on', async () => {
  const browser = await logIn({ name: 'rita' })
  using tab = await browser.watches()
  tab.send({ open: 1, path: configMaps })
  tab.send({ open: 2, path: '/hub/v1/fleet' })
  tab.send({ open: 3, path: '/clusters/nowhere/api/v1/pods' })
  tab.send({ open: 4, path: '/version' })
  const { error } = await tab.until(({ id, error }) => id === 1 && error !== undefined)
  assert.deepEqual([error?.code, /"rita" cannot list/.test(error?.message ?? '')], [403, true])
  // The audit log has the request under this id.
  assert.match(error?.requestId ?? '', /^[\da-f-]{36}$/)
  await tab.until(({ id, error }) => id === 3 && error !== undefined)
  const odd = await tab.until(({ id, error }) => id === 4 && error !== undefined)
  assert.match(odd.error?.message ?? '', /only lists of objects can be watched/)
  assert.deepEqual((await tab.until(({ id, snapshot }) => id === 2 && !!snapshot)).snapshot, [])
})

test('a logout ends the streams of every tab within the time of the check', async () => {
  const browser = await logIn('olga')
  using tab = await browser.watches()
  tab.send({ open: 1, path: configMaps })
  await tab.until(({ last }) => last === true)
  const closed = once(tab.socket, 'close')
  assert.equal((await browser.ask({ method: 'DELETE', path: session })).status, 204)
  await closed
})

test('frames that break the protocol end their stream alone, and so do too many streams', async () => {
  const browser = await logIn({ name: 'mallory' })
  for (const text of [
    'x',
    '[]',
    '{"open":1}',
    '{"open":-1,"path":"/a"}',
    '{"open":1,"path":"a b"}',
    '{"more":1,"credits":0}',
  ]) {
    using tab = await browser.watches()
    const closed = once(tab.socket, 'close')
    tab.socket.send(text)
    assert.equal((await closed)[0], 1008, text)
  }
  using large = await browser.watches()
  const closed = once(large.socket, 'close')
  large.socket.send(JSON.stringify({ open: 1, path: `/${'a'.repeat(20_000)}` }))
  assert.equal((await closed)[0], 1009)
  using twice = await browser.watches()
  const ended = once(twice.socket, 'close')
  twice.send({ open: 1, path: '/hub/v1/fleet' })
  twice.send({ open: 1, path: '/hub/v1/fleet' })
  assert.equal((await ended)[0], 1008)
  await assert.rejects(browser.watches({ origin: 'https://evil.example.com' }), /403/)
  using stack = new DisposableStack()
  for (let at = 0; at < 24; at += 1) {
    await until(() =>
      browser.watches().then(
        (tab) => stack.use(tab),
        () => undefined,
      ),
    )
  }
  await assert.rejects(browser.watches(), /429/)
})

test('opening without end is refused to a tab, and its stream lives', async () => {
  const browser = await logIn({ name: 'otto' })
  using tab = await browser.watches()
  for (let id = 0; id < 10_000; id += 1) {
    tab.send({ open: id, path: '/hub/v1/fleet' })
    tab.send({ close: id })
  }
  tab.send({ open: 20_000, path: '/hub/v1/fleet' })
  const isAnswered = ({ id }: { id?: number }): boolean => id === 20_000
  await tab.until(isAnswered)
  const refused = tab.frames.filter(({ error }) => error?.code === 429).length
  assert.ok(refused > 9_000, `${refused} were refused`)
})

test('a tab that takes nothing makes its watch stale, and gets a snapshot when it takes again', async () => {
  const browser = await logIn('olga')
  using tab = await browser.watches()
  tab.send({ open: 1, path: configMaps })
  await tab.until(({ state }) => state === 'live')
  // One credit went with the snapshot, and each change takes another one.
  let count = 0
  const name = 'changing'
  await makeMap(browser, name)
  const headers = { 'content-type': 'application/merge-patch+json' }
  await until(async () => {
    const json = { data: { key: String((count += 1)) } }
    await browser.ask({ method: 'PATCH', path: `${configMaps}/${name}`, json, headers })
    return tab.frames.some(({ state }) => state === 'stale')
  })
  const before = tab.frames.length
  tab.send({ more: 1, credits: 32 })
  const isFresh = ({ snapshot }: { snapshot?: readonly unknown[] }): boolean =>
    snapshot !== undefined
  await until(() => tab.frames.slice(before).some(isFresh))
})

test('the fleet is a compact list of the clusters that its reader may see, with changes as they come', async () => {
  const browser = await logIn('olga')
  const rita = await logIn({ name: 'rita', groups: ['north'] })
  const access = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterAccess',
    metadata: { name: 'north' },
    spec: {
      subjects: [{ kind: 'Group', name: 'north', apiGroup: 'rbac.authorization.k8s.io' }],
      clusterSelector: { matchLabels: { region: 'north' } },
      verbs: ['get'],
    },
  }
  const accesses = '/apis/hub.skerry.io/v1alpha1/clusteraccesses'
  assert.equal((await browser.ask({ method: 'POST', path: accesses, json: access })).status, 201)
  await registerCluster(fleet, 'oslo', { region: 'north' })
  await registerCluster(fleet, 'rome', { region: 'south' })
  const names = async (each: TestBrowser): Promise<unknown> => {
    const { clusters } = (await each.ask({ path: '/hub/v1/fleet' })).body as {
      clusters: { n: string; s: string; l?: object }[]
    }
    return clusters.map(({ n, s, l }) => [n, s, l])
  }
  const oslo = ['oslo', 'pending', { region: 'north' }]
  assert.deepEqual(await names(rita), [oslo])
  assert.deepEqual(await names(browser), [oslo, ['rome', 'pending', { region: 'south' }]])
  using tab = await rita.watches()
  tab.send({ open: 1, path: '/hub/v1/fleet' })
  await tab.until(({ snapshot }) => snapshot?.length === 1)
  await registerCluster(fleet, 'bergen', { region: 'north' })
  await registerCluster(fleet, 'milan', { region: 'south' })
  const came = await tab.until(({ events }) => (events?.length ?? 0) > 0)
  assert.deepEqual(
    came.events?.map(({ t, o }) => [t, o.n]),
    [['A', 'bergen']],
  )
  await fleet.admin.resource(clusterResource).delete({ name: 'bergen' }, soon())
  const went = await tab.until(({ events }) => events?.[0]?.t === 'D')
  assert.equal(went.events?.[0]?.o.n, 'bergen')
  assert.ok(!JSON.stringify(tab.frames).includes('milan'))
})

test('a watch of a cluster names its being away, and goes on when it is back', async () => {
  await using edge = await startTestEdge()
  const browser = await logIn('olga')
  await registerCluster(fleet, 'edge')
  using tab = await browser.watches()
  const path = '/clusters/edge/api/v1/namespaces'
  tab.send({ open: 1, path, table: true })
  const away = await tab.until(({ id, state }) => id === 1 && state === 'away')
  assert.match(away.message ?? '', /edge/)
  assert.ok((away.retryAfter ?? 0) > 0)
  await using _agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
  await tab.until(({ id, snapshot }) => id === 1 && snapshot !== undefined)
})

test('a hostile edge that answers pages, redirects, cookies or endless lists ends its own watch alone', async () => {
  const page = '<script>alert(1)</script>'
  const answers = [
    { status: 200, headers: { 'content-type': 'text/html' }, body: page },
    { status: 302, headers: { location: 'https://evil.example.com/' }, body: '' },
    { status: 200, headers: { 'content-type': 'application/json' }, body: 'x'.repeat(9_000_000) },
    { status: 200, headers: { 'content-type': 'application/json' }, body: '{"items":7}' },
  ]
  let next = answers[0]
  const odd = createServer((request, response) => {
    const cookie = '__Host-skerry-session=stolen; Path=/; Secure'
    const isAsked = request.url?.startsWith('/api/v1/pods') === true
    const { status, headers, body } = (isAsked ? next : undefined) ?? {
      status: 404,
      headers: {},
      body: '',
    }
    response.writeHead(status, { ...headers, 'set-cookie': cookie }).end(body)
  })
  odd.listen(0, '127.0.0.1')
  await once(odd, 'listening')
  const address = odd.address()
  assert.ok(address !== null && typeof address === 'object')
  await registerCluster(fleet, 'odd')
  const api = { server: `http://127.0.0.1:${address.port}` }
  await using agent = await startTestAgent(fleet, { name: 'odd', api })
  await agent.connected()
  const browser = await logIn('olga')
  const before = browser.cookies.get('__Host-skerry-session')
  using tab = await browser.watches()
  for (const [at, answer] of answers.entries()) {
    next = answer
    tab.send({ open: at, path: '/clusters/odd/api/v1/pods' })
    const told = await tab.until(
      ({ id, error, state }) => id === at && (!!error || state === 'away'),
    )
    assert.ok(!JSON.stringify(told).includes('script'))
    tab.send({ close: at })
  }
  next = answers[0]
  const shown = await browser.ask({ path: '/clusters/odd/api/v1/pods' })
  assert.match(String(shown.headers['content-security-policy']), /sandbox/)
  assert.deepEqual(
    [shown.headers['set-cookie'], shown.headers['x-content-type-options']],
    [undefined, 'nosniff'],
  )
  assert.equal(browser.cookies.get('__Host-skerry-session'), before)
  odd.close()
  odd.closeAllConnections()
})
