import assert from 'node:assert/strict'
import { get } from 'node:http'
import { test } from 'node:test'
import { systemClock, ExpectedError } from '@skerry/base'
import { startTestIssuer, type TestIssuer, type TestIssuerOptions } from '@skerry/testing'
import { openLoopbackListener } from './loopback-listener.ts'
import { LoginEndedError, openOidcIssuer, type OidcTokens } from './oidc-issuer.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

const clientOf = ({ url, ca, clientId }: TestIssuer) => ({
  issuerUrl: url,
  clientId,
  scopes: ['groups'],
  authorityPem: ca,
})

/** Logs in with a browser that follows every instruction. */
async function logIn(issuer: TestIssuer): Promise<OidcTokens> {
  const opened = await openOidcIssuer(clientOf(issuer), { clock: systemClock }, soon())
  const visits: Promise<number>[] = []
  try {
    return await opened.logInByBrowser(0, (url) => void visits.push(issuer.visit(url)))
  } finally {
    await Promise.allSettled(visits)
  }
}

test('a person logs in with a browser, using PKCE, and with a new state and nonce each time', async () => {
  await using issuer = await startTestIssuer()
  issuer.setPerson({ sub: 'rita' })
  const first = await logIn(issuer)
  const second = await logIn(issuer)
  assert.equal(first.subject, 'rita')
  assert.ok(first.expiresAtMs > Date.now())
  assert.notEqual(first.idToken, second.idToken)
  const [one, two] = issuer.authorizations
  assert.match(one?.['redirect_uri'] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  assert.equal(one?.['scope'], 'openid offline_access groups')
  for (const field of ['state', 'nonce', 'code_challenge']) {
    assert.ok((one?.[field] ?? '').length >= 43, field)
    assert.notEqual(one?.[field], two?.[field], field)
  }
})

test('a person logs in with a code on another device', async () => {
  await using issuer = await startTestIssuer()
  const opened = await openOidcIssuer(clientOf(issuer), { clock: systemClock }, soon())
  const tokens = await opened.logInByDevice(({ url, code }) => {
    assert.deepEqual([url, code], [`${issuer.url}/activate`, 'WDJB-MJHT'])
    issuer.setPerson({ sub: 'rita' })
  })
  assert.equal(tokens.subject, 'rita')
})

test('wrong answers of an issuer are not believed', async () => {
  const wrong: [options: TestIssuerOptions, message: RegExp][] = [
    [{ wrong: { issuer: 'https://elsewhere.example' } }, /Cannot find issuer .*issuer/],
    [{ wrong: { iss: 'https://elsewhere.example' } }, /"iss" \(issuer\)/],
    [{ wrong: { aud: 'another' } }, /"aud" \(audience\)/],
    [{ wrong: { nonce: 'another' } }, /"nonce"/],
    [{ idTokenSeconds: -3_600 }, /"exp"/],
  ]
  for (const [options, message] of wrong) {
    await using issuer = await startTestIssuer(options)
    issuer.setPerson({ sub: 'rita' })
    await assert.rejects(logIn(issuer), (error: unknown) => {
      assert.ok(error instanceof ExpectedError, String(error))
      assert.match(error.message, message)
      return true
    })
  }
  await using untrusted = await startTestIssuer()
  const client = { ...clientOf(untrusted), authorityPem: undefined }
  await assert.rejects(
    openOidcIssuer(client, { clock: systemClock }, soon()),
    /Cannot find issuer .*certificate/,
  )
  await assert.rejects(logIn(untrusted), /Cannot log in at .*access_denied/)
})

test('a refresh gives new tokens for the same person, until the issuer ends it', async () => {
  await using issuer = await startTestIssuer()
  issuer.setPerson({ sub: 'rita' })
  const { refreshToken = '', subject } = await logIn(issuer)
  const opened = await openOidcIssuer(clientOf(issuer), { clock: systemClock }, soon())
  const next = await opened.refresh({ refreshToken, subject })
  assert.equal(next.subject, 'rita')
  assert.notEqual(next.refreshToken, refreshToken)
  issuer.setPerson({ sub: 'mallory' })
  const last = { refreshToken: next.refreshToken ?? '', subject }
  await assert.rejects(opened.refresh(last), /it answers for somebody else/)
  await assert.rejects(opened.refresh(last), (error: unknown) => {
    assert.ok(error instanceof LoginEndedError)
    assert.equal(error.message, 'invalid_grant: the session is over')
    return true
  })
})

test('an issuer without devices, or one that is away, says so', async () => {
  const issuer = await startTestIssuer({ hasDevices: false })
  const opened = await openOidcIssuer(clientOf(issuer), { clock: systemClock }, soon())
  await assert.rejects(
    opened.logInByDevice(() => undefined),
    /no devices without a browser; leave out --device/,
  )
  await issuer[Symbol.asyncDispose]()
  const refreshing = opened.refresh({ refreshToken: 'a', subject: 'rita' })
  await assert.rejects(refreshing, (error: unknown) => {
    assert.ok(error instanceof ExpectedError)
    assert.match(
      error.message,
      /Cannot refresh the login at https:\/\/127.0.0.1:\d+: .*ECONNREFUSED/,
    )
    return true
  })
})

test('only the browser with the state is heard, and only at the address that was given out', async () => {
  await using listener = await openLoopbackListener(0)
  const { port } = new URL(listener.redirectUri)
  const ask = (path: string, host = `127.0.0.1:${port}`, method = 'GET') =>
    new Promise<number>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, method, headers: { host } }
      get(options, (answer) => resolve(answer.resume().statusCode ?? 0)).once('error', reject)
    })
  const heard = listener.answered('s3cret', soon())
  const others: Parameters<typeof ask>[] = [
    ['/callback?code=a&state=other'],
    ['/callback?code=a'],
    ['/callback?code=a&state=other&state=s3cret'],
    ['/other?code=a&state=s3cret'],
    ['/callback?code=a&state=s3cret', `evil.example:${port}`],
    ['/callback?code=a&state=s3cret', undefined, 'POST'],
    ['//evil.example/callback?code=a&state=s3cret'],
  ]
  for (const other of others) assert.equal(await ask(...other), 400, other.join(' '))
  assert.equal(await ask('/callback?code=mine&state=s3cret'), 200)
  assert.equal((await heard).href, `${listener.redirectUri}?code=mine&state=s3cret`)
  // Once.
  assert.equal(await ask('/callback?code=mine&state=s3cret'), 400)
  await assert.rejects(openLoopbackListener(Number(port)), /pass another --port/)
})
