import assert from 'node:assert/strict'
import { get } from 'node:https'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestIssuer, type TestIssuer } from '@skerry/testing'
import { openTestBrowser, type TestBrowser } from '../../testing/scenes/test-browser.ts'
import { startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

const session = '/hub/v1/session'
const navigation = {
  'x-skerry-console': undefined,
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'cross-site',
}

interface Scene extends AsyncDisposable {
  readonly issuer: TestIssuer
  readonly fleet: TestHub
}

async function startScene(idTokenSeconds = 3_600): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const issuer = stack.use(await startTestIssuer({ idTokenSeconds }))
  const directory = await mkdtemp(join(tmpdir(), 'skerry-console-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const authenticationConfig = join(directory, 'authentication.json')
  const { url, ca: certificateAuthority, clientId } = issuer
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url, audiences: [clientId], certificateAuthority },
        claimMappings: { username: { claim: 'sub', prefix: '' } },
      },
    ],
  }
  await writeFile(authenticationConfig, JSON.stringify(config))
  const login = { loginClientId: clientId }
  const fleet = stack.use(await startTestHub({ access: { authenticationConfig }, login }))
  const owned = stack.move()
  return { issuer, fleet, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Visits the issuer as the browser does. Resolves with the path to which it sends the browser back. */
async function visit({ issuer: { ca } }: Scene, url: string): Promise<string> {
  const location = await new Promise<string>((resolve, reject) => {
    get(url, { ca, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.headers.location ?? '')
    }).once('error', reject)
  })
  const back = new URL(location)
  return `${back.pathname}${back.search}`
}

async function begin(browser: TestBrowser, page: string): Promise<string> {
  const path = `${session}/login?return=${encodeURIComponent(page)}`
  const { status, headers } = await browser.ask({ path, headers: navigation })
  assert.equal(status, 302)
  return headers.location ?? ''
}

test('a person logs in at the issuer and comes back to the page, while another browser gains nothing', async () => {
  await using scene = await startScene()
  const { issuer, fleet } = scene
  issuer.setPerson({ sub: 'rita' })
  const browser = openTestBrowser(fleet)
  const offers = (await browser.ask({ path: `${session}/offers` })).body
  assert.deepEqual(offers['issuer'], {
    name: new URL(issuer.url).host,
    loginURL: `${session}/login?return=%2Fconsole%2F`,
  })
  const back = await visit(scene, await begin(browser, '/console/clusters/shop-7?tab=nodes'))
  const state = browser.cookies.get('__Host-skerry-login') ?? ''
  const stranger = openTestBrowser(fleet)
  const stolen = await stranger.ask({ path: back, headers: navigation })
  assert.equal(stolen.headers.location, '/console/login?problem=expired')
  const done = await browser.ask({ path: back, headers: navigation })
  assert.deepEqual(
    [done.status, done.headers.location],
    [302, '/console/clusters/shop-7?tab=nodes'],
  )
  assert.deepEqual([...browser.cookies.keys()], ['__Host-skerry-session'])
  assert.equal((await browser.ask({ path: session })).body['user'], 'rita')
  // The code and the state are good once.
  stranger.cookies.set('__Host-skerry-login', state)
  const replayed = await stranger.ask({ path: back, headers: navigation })
  assert.equal(
    replayed.headers.location,
    '/console/login?problem=issuer&return=%2Fconsole%2Fclusters%2Fshop-7%3Ftab%3Dnodes',
  )
  assert.equal(stranger.cookies.has('__Host-skerry-session'), false)
})

test('a login leads to pages of the console alone, and a refused one back to the login page', async () => {
  await using scene = await startScene()
  const { issuer, fleet } = scene
  issuer.setPerson({ sub: 'rita' })
  for (const page of [
    'https://evil.example.com/',
    '//evil.example.com',
    '/clusters/a',
    '/console/\\a',
  ]) {
    const browser = openTestBrowser(fleet)
    const back = await visit(scene, await begin(browser, page))
    const { headers } = await browser.ask({ path: back, headers: navigation })
    assert.equal(headers.location, '/console/', page)
  }
  issuer.setPerson(undefined)
  const browser = openTestBrowser(fleet)
  const back = await visit(scene, await begin(browser, '/console/clusters'))
  const { headers } = await browser.ask({ path: back, headers: navigation })
  assert.equal(headers.location, '/console/login?problem=issuer&return=%2Fconsole%2Fclusters')
  assert.equal(browser.cookies.size, 0)
})

test('a session goes on past its ID token by the refresh token, and ends with the login at the issuer', async () => {
  // Tokens that are over at once.
  await using scene = await startScene(1)
  const { issuer, fleet } = scene
  issuer.setPerson({ sub: 'rita' })
  const browser = openTestBrowser(fleet)
  const back = await visit(scene, await begin(browser, '/console/'))
  await browser.ask({ path: back, headers: navigation })
  const refreshed = (): number => issuer.grants['refresh_token'] ?? 0
  while (refreshed() === 0) {
    const many = [1, 2, 3, 4].map(() => browser.ask({ path: session }))
    for (const { status } of await Promise.all(many)) assert.equal(status, 200)
  }
  issuer.endLogins()
  for (let status = 200; status === 200;) {
    status = (await browser.ask({ path: session })).status
    assert.ok(status === 200 || status === 401)
  }
})
