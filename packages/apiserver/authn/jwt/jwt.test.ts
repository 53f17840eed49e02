import { loadExpressions } from '@skerry/kinds'
import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { SignJWT } from 'jose'
import { readAuthenticationConfig } from './authentication-config.ts'
import { createConfiguredUsers } from './configured-users.ts'

await loadExpressions()

interface TestIssuer extends AsyncDisposable {
  readonly url: string
  readonly ca: string
  /** Adds this key to the key set. */
  addKey(kid: string): Promise<void>
  sign(claims: Record<string, unknown>, kid?: string): Promise<string>
  readonly discoveries: () => number
}

async function startIssuer(): Promise<TestIssuer> {
  const notBeforeMs = Date.now() - 60_000
  const dates = { notBeforeMs, notAfterMs: notBeforeMs + 3_600_000 }
  const authority = await createAuthority({ subject: { commonName: 'issuer-ca' }, ...dates })
  const pair = await generateKeyPair()
  const cert = await signCertificate(authority, {
    subject: { commonName: 'issuer' },
    publicKeyPem: pair.publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    ipAddresses: ['127.0.0.1'],
  })
  const keys = new Map<string, string>()
  let discoveries = 0
  const server = createServer({ cert, key: pair.privateKeyPem }, (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url !== '/keys') {
      discoveries += 1
      response.end(JSON.stringify({ issuer: url(), jwks_uri: `${url()}/keys` }))
      return
    }
    const jwks = [...keys].map(([kid, pem]) => ({
      ...createPublicKey(pem).export({ format: 'jwk' }),
      kid,
      use: 'sig',
    }))
    response.end(JSON.stringify({ keys: jwks }))
  })
  // A server that listens on a port has an address of this type.
  const url = (): string => `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const addKey = async (kid: string): Promise<void> => {
    keys.set(kid, (await generateKeyPair()).privateKeyPem)
  }
  await addKey('one')
  return {
    url: url(),
    ca: authority.certificatePem,
    addKey,
    discoveries: () => discoveries,
    sign(claims, kid = 'one') {
      const key = createPrivateKey(keys.get(kid) ?? '')
      const alg = key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256'
      return new SignJWT({ iss: url(), aud: 'skerry', exp: 4_000_000_000, ...claims })
        .setProtectedHeader({ alg, kid })
        .sign(key)
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const configOf = (
  issuer: { url: string; ca: string },
  more: object = {},
  jwt: object = {},
): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: issuer.url, certificateAuthority: issuer.ca, audiences: ['skerry'] },
        claimMappings: {
          username: { claim: 'sub', prefix: 'oidc:' },
          groups: { claim: 'groups', prefix: 'oidc:' },
          uid: { claim: 'id' },
        },
        ...jwt,
      },
    ],
    ...more,
  })

const never = new AbortController().signal

test('a token of a configured issuer is the user that its claims name; other tokens are refused or unknown', async () => {
  await using issuer = await startIssuer()
  const jwt = { claimValidationRules: [{ claim: 'tenant', requiredValue: 'a' }] }
  const users = createConfiguredUsers(
    readAuthenticationConfig(configOf(issuer, {}, jwt)),
    systemClock,
  )
  const ask = (token: string) => users.tokens.authenticateToken(token, ['api'], never)
  const claims = { sub: 'ada', groups: ['team'], id: '7', tenant: 'a' }
  const found = await ask(await issuer.sign(claims))
  assert.deepEqual(found, {
    user: { name: 'oidc:ada', groups: ['oidc:team'], extra: {}, uid: '7' },
    audiences: ['api'],
  })
  const refused: readonly [Record<string, unknown>, RegExp][] = [
    [{ ...claims, aud: 'other' }, /expected audience in \["skerry"\] got \["other"\]/],
    [{ ...claims, exp: 1_000 }, /verify token: "exp" claim timestamp check failed/],
    [{ ...claims, tenant: 'b' }, /required claim tenant value does not match\. Got = b, want = a/],
    [{ ...claims, sub: undefined }, /parse username claims "sub": claim not present/],
  ]
  for (const [wrong, message] of refused) {
    await assert.rejects(ask(await issuer.sign(wrong)), (error: Error) =>
      message.test(error.message),
    )
  }
  const foreign = await issuer.sign({ ...claims, iss: 'https://elsewhere' })
  assert.equal(await ask(foreign), undefined)
  assert.equal(await ask('no.jwt'), undefined)
  const [head, payload] = (await issuer.sign(claims)).split('.')
  await assert.rejects(
    ask(`${head}.${payload}.AAAA`),
    /verify token: signature verification failed/,
  )
})

test('keys are fetched with the first token and again when a token names a new one', async () => {
  await using issuer = await startIssuer()
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const users = createConfiguredUsers(readAuthenticationConfig(configOf(issuer)), clock)
  const ask = (token: string) => users.tokens.authenticateToken(token, [], never)
  assert.equal(issuer.discoveries(), 0)
  await ask(await issuer.sign({ sub: 'ada', id: '7' }))
  await ask(await issuer.sign({ sub: 'bob', id: '8' }))
  assert.equal(issuer.discoveries(), 1)
  await issuer.addKey('two')
  const rotated = await issuer.sign({ sub: 'ada', id: '7' }, 'two')
  await assert.rejects(ask(rotated), /no applicable key found/)
  nowMs = 10_000
  assert.equal((await ask(rotated))?.user.name, 'oidc:ada')
  assert.equal(issuer.discoveries(), 2)
})

test('an issuer that cannot be trusted or reached refuses its own tokens only', async () => {
  await using issuer = await startIssuer()
  const token = await issuer.sign({ sub: 'ada', id: '7' })
  const ca = (
    await createAuthority({ subject: { commonName: 'x' }, notBeforeMs: 0, notAfterMs: 1 })
  ).certificatePem
  const config = readAuthenticationConfig(configOf({ url: issuer.url, ca }))
  const users = createConfiguredUsers(config, systemClock)
  await assert.rejects(users.tokens.authenticateToken(token, [], never), /is not initialized/)
})

test('the file says who gets in without credentials, and a mistake in it is refused with its place', () => {
  const issuer = { url: 'https://issuer.example', ca: '' }
  const anonymous = { enabled: true, conditions: [{ path: '/livez' }] }
  const users = createConfiguredUsers(
    readAuthenticationConfig(configOf(issuer, { anonymous })),
    systemClock,
  )
  assert.equal(users.isAnonymousAllowed('/livez'), true)
  assert.equal(users.isAnonymousAllowed('/api'), false)
  users.setConfig(readAuthenticationConfig(configOf(issuer)))
  assert.equal(users.isAnonymousAllowed('/api'), undefined)
  const bad: readonly [string, RegExp][] = [
    [
      configOf({ url: 'http://x', ca: '' }),
      /jwt\[0\]\.issuer\.url: Invalid value: "http:\/\/x": URL scheme must be https/,
    ],
    [configOf(issuer, {}, { claimMappings: {} }), /claimMappings\.username: Required value/],
    [
      configOf(issuer, {}, { claimMappings: { username: { claim: 'sub' } } }),
      /username\.prefix: Required value/,
    ],
    [configOf(issuer, {}, { issuer: { url: issuer.url } }), /issuer\.audiences: Required value/],
    [configOf(issuer, { more: 1 }), /unknown field "more"/],
  ]
  for (const [text, message] of bad) assert.throws(() => readAuthenticationConfig(text), message)
})

test('expressions decide who the user is and which tokens and users are refused', async () => {
  await using issuer = await startIssuer()
  const jwt = {
    claimMappings: {
      username: { expression: '"ci:" + claims.sub' },
      groups: { expression: 'claims.roles.split(",").map(r, "ci:" + r)' },
      uid: { expression: 'claims.id' },
      extra: [{ key: 'example.org/site', valueExpression: 'claims.?site.orValue("")' }],
    },
    claimValidationRules: [
      { expression: 'claims.exp - claims.iat <= 86400', message: 'at most a day' },
    ],
    userValidationRules: [
      { expression: '!user.username.startsWith("ci:system")', message: 'reserved' },
      { expression: 'user.groups.all(g, !g.startsWith("system:"))' },
    ],
  }
  const users = createConfiguredUsers(
    readAuthenticationConfig(configOf(issuer, {}, jwt)),
    systemClock,
  )
  const ask = async (claims: object) =>
    users.tokens.authenticateToken(await issuer.sign({ ...claims }), ['api'], never)
  const claims = { sub: 'ada', roles: 'a,b', id: '7', iat: 4_000_000_000 - 60, jti: 'x' }
  assert.deepEqual((await ask({ ...claims, site: ['oslo', ''] }))?.user, {
    name: 'ci:ada',
    groups: ['ci:a', 'ci:b'],
    uid: '7',
    extra: {
      'authentication.kubernetes.io/credential-id': ['JTI=x'],
      'example.org/site': ['oslo'],
    },
  })
  const refused: readonly [object, string][] = [
    [
      { ...claims, iat: 1_000 },
      "error evaluating claim validation expression: validation expression 'claims.exp - claims.iat <= 86400' failed: at most a day",
    ],
    [
      { ...claims, sub: 'system' },
      `error evaluating user info validation rule: validation expression '!user.username.startsWith("ci:system")' failed: reserved`,
    ],
    [
      { ...claims, sub: 7 },
      `error evaluating username claim expression: expression '"ci:" + claims.sub' resulted in error: no such overload`,
    ],
    [
      { ...claims, id: undefined },
      "error evaluating uid claim expression: expression 'claims.id' resulted in error: no such key: id",
    ],
    [
      { ...claims, id: 7 },
      'error evaluating uid claim expression: uid claim expression must return a string',
    ],
    [
      { ...claims, site: 7 },
      'error evaluating extra claim expression: claims.?site.orValue(""): expression must return a string or a list of strings',
    ],
  ]
  for (const [wrong, message] of refused) {
    await assert.rejects(ask(wrong), { name: 'TokenError', message: `oidc: ${message}` })
  }
})

test('every mistake in expressions and mappings is named with its place', () => {
  const issuer = { url: 'https://issuer.example', ca: '' }
  const place = 'jwt[0].claimMappings'
  const name = { username: { claim: 'sub', prefix: '' } }
  const both = "claim and expression can't both be set"
  const bad: readonly [object, string][] = [
    [
      { claimMappings: { username: { claim: 'sub', prefix: '', expression: 'claims.sub' } } },
      `${place}.username: Invalid value: "": ${both}`,
    ],
    [
      { claimMappings: { username: { expression: 'claims.email' } } },
      `${place}.username.expression: Invalid value: "claims.email": claims.email_verified must be used`,
    ],
    [
      { claimMappings: { ...name, extra: [{ key: 'k8s.io/x', valueExpression: '"a"' }] } },
      `${place}.extra[0].key: Invalid value: "k8s.io/x": k8s.io, kubernetes.io and their subdomains are reserved`,
    ],
    [
      { claimMappings: { ...name, uid: { expression: 'nobody' } } },
      `${place}.uid.expression: Invalid value: "nobody": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody'`,
    ],
    [
      { claimMappings: name, claimValidationRules: [{ expression: 'claims.sub' }] },
      'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.sub": must evaluate to bool',
    ],
    [
      {
        claimMappings: name,
        userValidationRules: [{ expression: 'user.name == ""' }, { expression: '' }],
      },
      'jwt[0].userValidationRules[1].expression: Required value',
    ],
  ]
  for (const [jwt, message] of bad) {
    const text = configOf(issuer, {}, jwt)
    assert.throws(
      () => readAuthenticationConfig(text),
      (error: Error) => error.message.includes(message) || assert.fail(error.message),
    )
  }
})
