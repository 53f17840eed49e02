/** The routes of the console by which people come in and are let in: users, sessions, and agents that wait. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pendingRegistrations } from '@skerry/membership'
import { openTestBrowser, type TestBrowser } from '../../testing/scenes/test-browser.ts'
import { auditedLines } from '../../testing/scenes/audited-lines.ts'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { until } from '../../testing/until.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const users = '/hub/v1/users'
const sessions = '/hub/v1/sessions'
const registrations = '/hub/v1/registrations'

let fleet: TestHub
let admin: TestBrowser
let rita: TestBrowser

before(async () => {
  fleet = await startTestHub({ registration: { requiresAcceptance: true, reEnrolmentGraceMs: 0 } })
  const olga = { commonName: 'olga', organizations: ['system:masters'] }
  admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  rita = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'rita' }))
})
after(() => fleet[Symbol.asyncDispose]())

test('a user is added with a token that is shown once, listed without it, and removed', async () => {
  const json = { name: 'walt', groups: ['drivers'], ttlSeconds: 3_600 }
  const made = await admin.ask({ method: 'POST', path: users, json })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers['cache-control'], 'no-store')
  const { token, id } = made.body
  const browser = openTestBrowser(fleet)
  const session = '/hub/v1/session'
  const begun = await browser.ask({ method: 'POST', path: session, json: { token } })
  assert.deepEqual([begun.status, begun.body['user']], [201, 'walt'])
  const listed = await admin.ask({ path: users })
  assert.match(listed.text, /"name":"walt","groups":\["drivers"\],"expires":"20/)
  assert.doesNotMatch(listed.text, /hash|salt|token"/)
  const secret = `/api/v1/namespaces/skerry-users/secrets/user-token-${String(id)}`
  assert.equal((await admin.ask({ method: 'DELETE', path: secret })).status, 200)
  assert.equal((await browser.ask({ path: '/version' })).status, 401)
  assert.ok(!(await auditedLines(fleet)).some((line) => line.includes(String(token))))
})

const refusals: readonly [unknown, RegExp][] = [
  [{}, /name must be a text/],
  [{ name: 'system:masters' }, /must not begin with "system:"/],
  [{ name: 'a', groups: 'b' }, /groups must be/],
  [{ name: 'a', groups: [7] }, /groups must be/],
  [{ name: 'a', ttlSeconds: 1 }, /ttlSeconds must be/],
  [{ name: 'a', admin: true }, /there is no field "admin"/],
]
test('a user that cannot be is refused, and so is everybody who may not add users', async () => {
  for (const [json, why] of refusals) {
    const { status, text, body } = await admin.ask({ method: 'POST', path: users, json })
    assert.equal(status, 400, text)
    assert.match(String(body.message), why)
  }
  const asked = { method: 'POST', path: users, json: { name: 'rita' } }
  const refused = await rita.ask(asked)
  assert.equal(refused.status, 403)
  assert.match(String(refused.body.message), /"rita" cannot create resource "secrets"/)
  assert.equal((await rita.ask({ path: users })).status, 403)
  assert.equal((await openTestBrowser(fleet).ask({ path: users })).status, 403)
  assert.equal((await admin.ask({ method: 'DELETE', path: users })).status, 405)
})

/** Opens a browser with a session of its own. */
async function loggedIn(name: string): Promise<TestBrowser> {
  const json = { name, groups: [], ttlSeconds: 3_600 }
  const { body } = await admin.ask({ method: 'POST', path: users, json })
  const browser = openTestBrowser(fleet)
  const login = { method: 'POST', path: '/hub/v1/session', json: { token: body['token'] } }
  assert.equal((await browser.ask(login)).status, 201)
  return browser
}

interface Shown {
  readonly id: string
  readonly user: string
  readonly by: string
  readonly address: string
  readonly isThis: boolean
}

async function shownTo(browser: TestBrowser): Promise<{ all: Shown[]; seesAll: unknown }> {
  const { status, body, text } = await browser.ask({ path: sessions })
  assert.equal(status, 200, text)
  return { all: body['sessions'] as Shown[], seesAll: body['seesAll'] }
}

test('a user sees and ends their own sessions, and only somebody who may delete them ends others', async () => {
  const [here, elsewhere, other] = [
    await loggedIn('hanna'),
    await loggedIn('hanna'),
    await loggedIn('ivo'),
  ]
  const { all, seesAll } = await shownTo(here)
  assert.equal(seesAll, false)
  assert.deepEqual(
    all.map(({ user, by, address }) => [user, by, address]),
    [
      ['hanna', 'token', '127.0.0.1'],
      ['hanna', 'token', '127.0.0.1'],
    ],
  )
  assert.equal(all.filter(({ isThis }) => isThis).length, 1)
  const idOf = (found: readonly Shown[]): string => found.find(({ isThis }) => !isThis)?.id ?? ''
  const [theirs] = (await shownTo(other)).all
  const end = (browser: TestBrowser, id = '') =>
    browser.ask({ method: 'DELETE', path: `${sessions}/${id}` })
  assert.equal((await end(here, theirs?.id)).status, 404)
  assert.equal((await end(here, 'f'.repeat(32))).status, 404)
  assert.equal((await end(here, idOf(all))).status, 204)
  assert.equal((await elsewhere.ask({ path: '/version' })).status, 401)
  assert.equal((await here.ask({ path: '/version' })).status, 200)
  const seen = await shownTo(admin)
  assert.equal(seen.seesAll, true)
  assert.ok(seen.all.some(({ user }) => user === 'ivo'))
  assert.equal((await end(admin, theirs?.id)).status, 204)
  assert.equal((await other.ask({ path: '/version' })).status, 401)
  assert.equal((await openTestBrowser(fleet).ask({ path: sessions })).status, 403)
})

test('an agent is accepted by the fingerprint that a person saw, and another one is rejected with its token', async () => {
  await using edge = await startTestEdge()
  await using agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  const waiting = async (name: string) =>
    until(async () => {
      const found = await pendingRegistrations(fleet.admin, soon())
      return found.find((each) => each.cluster === name && each.waitsFor !== '')
    }, soon())
  const one = await waiting('edge')
  const listed = await admin.ask({ path: registrations })
  assert.ok(listed.text.includes(one.fingerprint), listed.text)
  const path = `${registrations}/${one.request}`
  const decide = (json: unknown, to = path, browser = admin) =>
    browser.ask({ method: 'POST', path: to, json })
  const strange = await decide({ accepts: true, fingerprint: 'sha256:00' })
  assert.equal(strange.status, 409)
  assert.ok(strange.text.includes(one.fingerprint))
  assert.equal((await decide({ accepts: 'yes', fingerprint: one.fingerprint })).status, 400)
  assert.equal((await decide({ accepts: true, fingerprint: '' }, `${path}x`)).status, 404)
  const { fingerprint } = one
  assert.equal((await decide({ accepts: true, fingerprint }, path, rita)).status, 403)
  const connected = agent.connected()
  const accepted = await decide({ accepts: true, fingerprint })
  assert.equal(accepted.status, 200, accepted.text)
  await connected
  await untilCluster(fleet, 'edge', ({ Ready }) => Ready === 'True')
  const second = await startTestAgent(fleet, { name: 'second', api: edge.api })
  const other = await waiting('second')
  const ended = assert.rejects(second.ended, /is denied: The hub rejected the agent/)
  const rejection = { accepts: false, fingerprint: other.fingerprint }
  assert.equal((await decide(rejection, `${registrations}/${other.request}`)).status, 200)
  await ended
})

test('every user may know which hub this is, and when its certificates end', async () => {
  const { status, body } = await rita.ask({ path: '/hub/v1/hub' })
  assert.equal(status, 200)
  assert.equal(body['certificateAuthority'], fleet.caPem)
  const { authority, serving } = body['certificates'] as Record<string, string>
  assert.ok(Date.parse(authority ?? '') >= Date.parse(serving ?? ''), JSON.stringify(body))
  assert.match(String(body['server']), /^https:\/\//)
  assert.equal((await openTestBrowser(fleet).ask({ path: '/hub/v1/hub' })).status, 403)
})
