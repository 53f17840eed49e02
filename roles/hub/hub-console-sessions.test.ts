import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createCluster } from '@skerry/client'
import { createUserToken, removeUserTokens } from '../admin/user-tokens.ts'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import { startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import { until } from '../../testing/until.ts'
import { makeConsoleLink } from '../admin/console-link.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const session = '/hub/v1/session'
const cookie = '__Host-skerry-session'
const olga = { commonName: 'olga', organizations: ['system:masters'] }
const configMaps = '/api/v1/namespaces/default/configmaps'

async function tokenFor(fleet: TestHub, user: string, groups: string[] = []): Promise<string> {
  const wanted = { name: user, groups, ttlMs: 600_000 }
  return (await createUserToken(fleet.admin, wanted, Date.now(), soon())).token
}

test('a browser logs in with a token, reads as that user, and logs out', async () => {
  await using fleet = await startTestHub()
  const token = await tokenFor(fleet, 'rita', ['readers'])
  const browser = openTestBrowser(fleet)
  assert.equal((await browser.ask({ path: session })).status, 401)
  const begun = await browser.ask({ method: 'POST', path: session, json: { token } })
  assert.equal(begun.status, 201)
  const [line = ''] = begun.headers['set-cookie'] ?? []
  assert.match(
    line,
    /^__Host-skerry-session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  )
  const shown = await browser.ask({ path: session })
  assert.equal(shown.status, 200)
  assert.deepEqual([shown.body['user'], shown.headers['cache-control']], ['rita', 'no-store'])
  assert.ok(!shown.text.includes(token) && !shown.text.includes(browser.cookies.get(cookie) ?? '?'))
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const self = await browser.ask({ method: 'POST', path: reviews, json: review })
  assert.match(self.text, /"username":"rita"/)
  assert.equal((await browser.ask({ path: configMaps })).status, 403)
  const kept = browser.cookies.get(cookie) ?? ''
  assert.equal((await browser.ask({ method: 'DELETE', path: session })).status, 204)
  assert.equal(browser.cookies.size, 0)
  browser.cookies.set(cookie, kept)
  assert.equal((await browser.ask({ path: '/version' })).status, 401)
})

test('the cookie counts for the pages of the hub alone', async () => {
  await using fleet = await startTestHub()
  const browser = openTestBrowser(fleet)
  const token = await tokenFor(fleet, 'olga', ['admins'])
  await browser.ask({ method: 'POST', path: session, json: { token } })
  const reading = { path: '/hub/v1/clusters' }
  assert.equal((await browser.ask(reading)).status, 200)
  const navigation = { 'x-skerry-console': undefined, 'sec-fetch-mode': 'navigate' }
  assert.equal((await browser.ask({ ...reading, headers: navigation })).status, 403)
  for (const site of ['cross-site', 'same-site']) {
    const headers = { 'sec-fetch-site': site, origin: undefined }
    const write = { method: 'POST', path: configMaps, json: {}, headers }
    assert.equal((await browser.ask(write)).status, 403, site)
  }
  const foreign = { origin: 'https://evil.example.com' }
  const login = { method: 'POST', path: session }
  assert.equal((await browser.ask({ ...login, json: { token }, headers: foreign })).status, 403)
  assert.equal((await browser.ask({ ...login, form: `token=${token}` })).status, 415)
  const other = `${cookie}=${'A'.repeat(43)}`
  const two = { cookie: `${cookie}=${browser.cookies.get(cookie)}; ${other}` }
  assert.equal((await browser.ask({ ...reading, headers: two })).status, 403)
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'x-skerry-console': '1',
  }
  const watch = { path: `${configMaps}?watch=true` }
  for (const origin of [undefined, 'null', 'https://evil.example.com']) {
    const answer = await browser.ask({ ...watch, headers: { ...upgrade, origin } })
    assert.equal(answer.status, 403, String(origin))
  }
  const own = { ...upgrade, origin: new URL(fleet.url).origin }
  const asUser = await browser.ask({ ...watch, headers: own })
  assert.match(asUser.body.message ?? '', /User "olga" cannot watch/)
})

test('a certificate is exchanged, and a code of its owner begins one session', async () => {
  await using fleet = await startTestHub()
  const credentials = await fleet.credentialsOf(olga)
  const first = openTestBrowser(fleet, credentials)
  const offers = (await first.ask({ path: `${session}/offers` })).body
  assert.deepEqual([offers['certificate'], offers['token'], offers['issuer']], [true, true, null])
  assert.equal((await first.ask({ path: session })).status, 401)
  const begun = await first.ask({ method: 'POST', path: session, json: {} })
  assert.deepEqual([begun.status, begun.body['user']], [201, 'olga'])

  const codes = { method: 'POST', path: `${session}/codes` }
  const refused = await first.ask(codes)
  assert.match(refused.body.message ?? '', /a session may not make another/)
  const other = openTestBrowser(fleet, credentials)
  const made = await other.ask(codes)
  assert.equal(made.status, 201)
  const { code } = made.body
  const second = openTestBrowser(fleet)
  assert.equal((await second.ask({ path: `${session}/offers` })).body['certificate'], false)
  const login = { method: 'POST', path: session, json: { code } }
  const both = await Promise.all([second.ask(login), openTestBrowser(fleet).ask(login)])
  assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([201, 401]))
  assert.equal((await openTestBrowser(fleet).ask(login)).status, 401)
  const anonymous = await openTestBrowser(fleet).ask(codes)
  assert.ok(anonymous.status === 401 || anonymous.status === 403)
  const impersonated = { 'impersonate-user': 'rita' }
  const masked = await other.ask({ ...login, json: {}, headers: impersonated })
  assert.equal(masked.status, 403)
})

test('a new login gets a new session, and ends the one that the browser had', async () => {
  await using fleet = await startTestHub()
  const token = await tokenFor(fleet, 'rita')
  const browser = openTestBrowser(fleet)
  // A value that somebody planted is never taken over.
  browser.cookies.set(cookie, 'A'.repeat(43))
  const login = { method: 'POST', path: session, json: { token } }
  assert.equal((await browser.ask(login)).status, 201)
  const former = browser.cookies.get(cookie) ?? ''
  assert.notEqual(former, 'A'.repeat(43))
  assert.equal((await browser.ask(login)).status, 201)
  assert.notEqual(browser.cookies.get(cookie), former)
  browser.cookies.set(cookie, former)
  assert.equal((await browser.ask({ path: session })).status, 401)
})

test('a user whose token is removed loses the session and its open watches within the time of the check', async () => {
  await using fleet = await startTestHub({ accessCheckMs: 200 })
  const token = await tokenFor(fleet, 'rita', ['watchers'])
  const rbac = { apiGroup: 'rbac.authorization.k8s.io' }
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const rbacPath = '/apis/rbac.authorization.k8s.io/v1'
  const role = { metadata: { name: 'watcher' }, rules }
  await admin.ask({ method: 'POST', path: `${rbacPath}/clusterroles`, json: role })
  const binding = {
    metadata: { name: 'watcher' },
    roleRef: { ...rbac, kind: 'ClusterRole', name: 'watcher' },
    subjects: [{ ...rbac, kind: 'Group', name: 'watchers' }],
  }
  await admin.ask({ method: 'POST', path: `${rbacPath}/clusterrolebindings`, json: binding })
  const browser = openTestBrowser(fleet)
  await browser.ask({ method: 'POST', path: session, json: { token } })
  const watch = await browser.open({ path: `${configMaps}?watch=true` })
  assert.equal(watch.statusCode, 200)
  const ended = watch.toArray()
  await removeUserTokens(fleet.admin, { name: 'rita', tokenId: undefined }, soon())
  await ended
  assert.equal((await browser.ask({ path: session })).status, 401)
  assert.equal((await browser.ask({ path: configMaps })).status, 401)
})

test('Secrets of sessions hold no credential, and a copy or an invention of one opens nothing', async () => {
  await using fleet = await startTestHub()
  const token = await tokenFor(fleet, 'rita')
  const browser = openTestBrowser(fleet)
  await browser.ask({ method: 'POST', path: session, json: { token } })
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const path = '/api/v1/namespaces/skerry-sessions/secrets'
  const { items } = (await admin.ask({ path })).body as {
    items: { data: Record<string, string> }[]
  }
  const [secret] = items
  const texts = Object.values(secret?.data ?? {}).map((text) =>
    Buffer.from(text, 'base64').toString(),
  )
  const all = texts.join('\n')
  assert.match(all, /"name":"rita"/)
  const [, part = ''] = token.split('.')
  assert.ok(!all.includes(part) && !all.includes(browser.cookies.get(cookie) ?? '?'))
  // Somebody who may write there makes the record of another user: its signature no longer fits.
  const name = (items as unknown as { metadata: { name: string } }[])[0]?.metadata.name
  const record = Buffer.from(
    (texts.find((text) => text.startsWith('{')) ?? '').replace('rita', 'root'),
  )
  const data = { record: record.toString('base64') }
  const type = { 'content-type': 'application/merge-patch+json' }
  const patched = await admin.ask({
    method: 'PATCH',
    path: `${path}/${name}`,
    json: { data },
    headers: type,
  })
  assert.equal(patched.status, 200)
  assert.equal((await browser.ask({ path: session })).status, 401)
})

test('a user has at most 16 sessions, and failed logins of an address are bounded', async () => {
  await using fleet = await startTestHub()
  const token = await tokenFor(fleet, 'rita')
  const browsers = Array.from({ length: 17 }, () => openTestBrowser(fleet))
  for (const browser of browsers) {
    const begun = await browser.ask({ method: 'POST', path: session, json: { token } })
    assert.equal(begun.status, 201)
  }
  const [first, second] = browsers
  assert.equal((await first?.ask({ path: session }))?.status, 401)
  assert.equal((await second?.ask({ path: session }))?.status, 200)
  const guess = { method: 'POST', path: session, json: { code: 'A'.repeat(43) } }
  const statuses: number[] = []
  for (let at = 0; at < 12; at += 1) statuses.push((await openTestBrowser(fleet).ask(guess)).status)
  assert.deepEqual(
    statuses.slice(0, 10),
    Array.from({ length: 10 }, () => 401),
  )
  assert.ok(statuses.includes(429))
  const again = await openTestBrowser(fleet).ask({ method: 'POST', path: session, json: { token } })
  assert.deepEqual([again.status, Number(again.headers['retry-after']) > 0], [429, true])
})

test('the audit log names the user and the session of each action', async () => {
  await using fleet = await startTestHub()
  const token = await tokenFor(fleet, 'rita')
  const browser = openTestBrowser(fleet)
  await browser.ask({ method: 'POST', path: session, json: { token } })
  await browser.ask({ method: 'POST', path: configMaps, json: { metadata: { name: 'a' } } })
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const { body } = await admin.ask({ path: '/api/v1/namespaces/skerry-sessions/secrets' })
  const [record] = body['items'] as { metadata: { name: string } }[]
  const id = record?.metadata.name.replace('session-', '')
  const line = await until(async () => {
    const text = await readFile(join(fleet.directory, 'audit.log'), 'utf8').catch(() => '')
    return text.split('\n').find((each) => each.includes(configMaps))
  })
  const { user, credential, status } = JSON.parse(line)
  assert.deepEqual([user, credential, status], ['rita', id, 403])
})

test('a link of "skerry console" logs its owner in once', async () => {
  await using fleet = await startTestHub()
  const { link, address } = await makeConsoleLink(
    { cluster: fleet.admin, server: fleet.url },
    soon(),
  ).catch((error: unknown) => ({ link: '', address: String(error) }))
  // The test's administrator has no credential of its own, so nothing could begin a session.
  assert.deepEqual([link, /neither a certificate nor a token/.test(address)], ['', true])
  const credentials = await fleet.as(olga)
  const cluster = createCluster(credentials, { ...fleet.context, userAgent: 'test' })
  const made = await makeConsoleLink({ cluster, server: fleet.url }, soon())
  assert.equal(made.address, `${fleet.url}/console/`)
  const code = new URLSearchParams(new URL(made.link).hash.slice(1)).get('code')
  const browser = openTestBrowser(fleet)
  const begun = await browser.ask({ method: 'POST', path: session, json: { code } })
  assert.deepEqual([begun.status, begun.body['user']], [201, 'olga'])
})
