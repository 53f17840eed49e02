import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import { silentLogger } from '@skerry/base'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { ObjectTable } from '../testing/object-table.ts'
import { stillClock } from '../testing/still-clock.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { createAuthenticatorChain, unionTokens } from './authenticator-chain.ts'
import { createTokenReview } from './authentication-reviews.ts'
import { createBootstrapTokenAuthenticator } from './bootstrap-token-authenticator.ts'
import { issuerDocuments } from './issuer-discovery.ts'
import { createServiceAccountAuthenticator } from './service-account-authenticator.ts'
import { createStaticToken, createStaticTokenAuthenticator } from './static-token-authenticator.ts'
import { createTokenIssuer, type TokenRequestClaims } from './token-issuer.ts'
import { createX509Authenticator } from './x509-authenticator.ts'

const startMs = Date.UTC(2026, 5, 1)
const issuer = 'https://kubernetes.default.svc.cluster.local'
const audiences = [issuer]
const never = new AbortController().signal
const noHeaders = { headers: {}, clientCertificates: [] }
const bearer = (token: string) => ({
  headers: { authorization: `Bearer ${token}` },
  clientCertificates: [],
})
const meta = (name: string, namespace?: string) => ({
  metadata: { name, uid: `uid-${name}`, ...(namespace ? { namespace } : {}) },
})

/** Starts a server with one service account, one bound pod, secret and node, and every type of token. */
async function newServer() {
  const clock = stillClock(startMs)
  const objects = new ObjectTable()
    .put(wellKnown.serviceAccounts, meta('robot', 'shop'))
    .put(wellKnown.pods, meta('web', 'shop'))
    .put(wellKnown.secrets, meta('key', 'shop'))
    .put(wellKnown.nodes, meta('n1'))
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const tokenIssuer = createTokenIssuer({ issuer, signingKeyPem: privateKeyPem }, clock)
  const tokens = unionTokens([
    createServiceAccountAuthenticator({
      issuers: [issuer],
      keyPems: [publicKeyPem],
      objects,
      clock,
      log: silentLogger,
    }),
    createBootstrapTokenAuthenticator(objects, clock),
  ])
  const chain = createAuthenticatorChain({
    certificates: createX509Authenticator(clock),
    tokens,
    audiences,
    isAnonymousAllowed: () => true,
    log: silentLogger,
  })
  const issue = (more: Partial<TokenRequestClaims> = {}) =>
    tokenIssuer.issue({
      namespace: 'shop',
      serviceAccount: { name: 'robot', uid: 'uid-robot' },
      audiences,
      lifetimeSeconds: 600,
      ...more,
    })
  return { clock, objects, tokens, chain, issue, privateKeyPem, publicKeyPem }
}

const isUnauthorized = (error: unknown): boolean =>
  error instanceof StatusError && error.code === 401 && error.message === 'Unauthorized'

test('a request without credentials is anonymous; one with wrong credentials is refused', async () => {
  const { chain } = await newServer()
  const { user } = await chain.authenticate(noHeaders, never)
  assert.deepEqual(
    { name: user.name, groups: user.groups },
    { name: 'system:anonymous', groups: ['system:unauthenticated'] },
  )
  await assert.rejects(chain.authenticate(bearer('guess'), never), isUnauthorized)
})

test('a client certificate is its common name with its organizations as groups', async () => {
  const { chain, clock } = await newServer()
  const authority = await createAuthority({
    subject: { commonName: 'ca' },
    notBeforeMs: startMs,
    notAfterMs: startMs + 1e9,
  })
  const { publicKeyPem } = await generateKeyPair()
  const issue = async (extendedUsages: string[]) => {
    const pem = await signCertificate(authority, {
      subject: { commonName: 'jane', organizations: ['dev', 'ops'] },
      publicKeyPem,
      notBeforeMs: startMs,
      notAfterMs: startMs + 60_000,
      keyUsages: ['digitalSignature'],
      extendedUsages,
    })
    const body = pem.replaceAll(/-----[^-]+-----/g, '')
    return { headers: {}, clientCertificates: [new Uint8Array(Buffer.from(body, 'base64'))] }
  }
  const { user } = await chain.authenticate(await issue(['clientAuth']), never)
  assert.equal(user.name, 'jane')
  assert.deepEqual(user.groups, ['dev', 'ops', 'system:authenticated'])
  assert.match(user.extra['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^X509SHA256=/)
  await assert.rejects(chain.authenticate(await issue(['serverAuth']), never), isUnauthorized)
  const good = await issue(['clientAuth'])
  clock.advance(120_000)
  await assert.rejects(chain.authenticate(good, never), isUnauthorized)
})

test('a bound service account token names its account, pod, node and credential', async () => {
  const { chain, issue } = await newServer()
  const token = await issue({
    pod: { name: 'web', uid: 'uid-web' },
    node: { name: 'n1', uid: 'uid-n1' },
  })
  const { user } = await chain.authenticate(bearer(token), never)
  assert.equal(user.name, 'system:serviceaccount:shop:robot')
  assert.equal(user.uid, 'uid-robot')
  assert.deepEqual(user.groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:shop',
    'system:authenticated',
  ])
  const { 'authentication.kubernetes.io/credential-id': id, ...rest } = user.extra
  assert.match(id?.[0] ?? '', /^JTI=[0-9a-f-]{36}$/)
  assert.deepEqual(rest, {
    'authentication.kubernetes.io/pod-name': ['web'],
    'authentication.kubernetes.io/pod-uid': ['uid-web'],
    'authentication.kubernetes.io/node-name': ['n1'],
    'authentication.kubernetes.io/node-uid': ['uid-n1'],
  })
})

const pod = { name: 'web', uid: 'uid-web' }
const refusals: {
  name: string
  claims?: Partial<TokenRequestClaims>
  /** The change between a first, accepted use and the refused one. */
  change?: (server: Awaited<ReturnType<typeof newServer>>) => unknown
  error: RegExp
}[] = [
  {
    name: 'expired, beyond the leeway of a minute',
    change: ({ clock }) => clock.advance(661_000),
    error: /has expired/,
  },
  {
    name: 'the pod is gone',
    claims: { pod },
    change: ({ objects }) => objects.delete(wellKnown.pods, 'shop', 'web'),
    error: /invalidated/,
  },
  {
    name: 'another pod has the same name now',
    claims: { pod },
    change: ({ objects }) =>
      objects.put(wellKnown.pods, { metadata: { name: 'web', namespace: 'shop', uid: 'new' } }),
    error: /invalidated/,
  },
  {
    name: 'the secret is gone',
    claims: { secret: { name: 'key', uid: 'uid-key' } },
    change: ({ objects }) => objects.delete(wellKnown.secrets, 'shop', 'key'),
    error: /invalidated/,
  },
  {
    name: 'the node is gone',
    claims: { node: { name: 'n1', uid: 'uid-n1' } },
    change: ({ objects }) => objects.delete(wellKnown.nodes, '', 'n1'),
    error: /invalidated/,
  },
  {
    name: 'the service account was created again',
    change: ({ objects }) =>
      objects.put(wellKnown.serviceAccounts, {
        metadata: { name: 'robot', namespace: 'shop', uid: 'new' },
      }),
    error: /has been deleted/,
  },
  {
    name: 'the pod has been terminating for longer than a minute',
    claims: { pod },
    change: ({ objects }) =>
      objects.put(wellKnown.pods, {
        metadata: {
          ...pod,
          namespace: 'shop',
          deletionTimestamp: new Date(startMs - 61_000).toISOString(),
        },
      }),
    error: /invalidated/,
  },
]
for (const { name, claims, change, error } of refusals) {
  test(`a service account token is refused from the moment that ${name}`, async () => {
    const server = await newServer()
    const token = await server.issue(claims)
    await server.tokens.authenticateToken(token, audiences, never)
    await change?.(server)
    await assert.rejects(server.tokens.authenticateToken(token, audiences, never), error)
  })
}

test('a node that left does not take the token of its still present pod with it', async () => {
  const server = await newServer()
  const token = await server.issue({ pod, node: { name: 'n1', uid: 'uid-n1' } })
  await server.objects.delete(wellKnown.nodes, '', 'n1')
  assert.ok(await server.tokens.authenticateToken(token, audiences, never))
})

test('a token for another audience or signed by another key is refused', async () => {
  const server = await newServer()
  const elsewhere = await server.issue({ audiences: ['vault'] })
  await assert.rejects(
    server.tokens.authenticateToken(elsewhere, audiences, never),
    /token audiences \["vault"\] is invalid for the target audiences/,
  )
  const stranger = await newServer()
  await assert.rejects(
    server.tokens.authenticateToken(await stranger.issue(), audiences, never),
    /invalid signature/,
  )
  const [head = '', , signature = ''] = (await server.issue()).split('.')
  const body = Buffer.from(JSON.stringify({ iss: issuer, sub: 'admin' })).toString('base64url')
  await assert.rejects(
    server.tokens.authenticateToken(`${head}.${body}.${signature}`, audiences, never),
    /invalid signature/,
  )
})

function bootstrapSecret(fields: Record<string, string>): object {
  const stored = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    ...fields,
  }
  const data = Object.entries(stored).map(([key, value]) => [key, btoa(value)])
  return {
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(data),
  }
}

test('a bootstrap token is accepted only as its secret allows', async () => {
  const cases: [name: string, fields: Record<string, string>, token: string, ok: boolean][] = [
    ['good', {}, 'abcdef.0123456789abcdef', true],
    ['wrong secret', {}, 'abcdef.0123456789abcdee', false],
    ['unknown id', {}, 'fedcba.0123456789abcdef', false],
    [
      'not for authentication',
      { 'usage-bootstrap-authentication': 'false' },
      'abcdef.0123456789abcdef',
      false,
    ],
    [
      'expired',
      { expiration: new Date(startMs - 1000).toISOString() },
      'abcdef.0123456789abcdef',
      false,
    ],
    ['unreadable expiration', { expiration: 'soon' }, 'abcdef.0123456789abcdef', false],
    [
      'a group that tokens may not have',
      { 'auth-extra-groups': 'system:masters' },
      'abcdef.0123456789abcdef',
      false,
    ],
  ]
  for (const [name, fields, token, ok] of cases) {
    const { chain, objects } = await newServer()
    objects.put(wellKnown.secrets, bootstrapSecret(fields))
    const attempt = chain.authenticate(bearer(token), never)
    if (!ok) await assert.rejects(attempt, isUnauthorized, name)
    else {
      const { user } = await attempt
      assert.equal(user.name, 'system:bootstrap:abcdef')
      assert.deepEqual(user.groups, ['system:bootstrappers', 'system:authenticated'])
    }
  }
})

test('a static token is stored as a hash and found again', async () => {
  const { token, entry } = await createStaticToken({ name: 'ci', groups: ['robots'], extra: {} })
  assert.ok(!JSON.stringify(entry).includes(token.split('.')[1] ?? ''))
  let kept: typeof entry | undefined = entry
  const find = (id: string) => (kept?.id === id ? kept : undefined)
  const authenticator = createStaticTokenAuthenticator(find, stillClock(startMs))
  const found = await authenticator.authenticateToken(token, audiences, never)
  assert.equal(found?.user.name, 'ci')
  await assert.rejects(authenticator.authenticateToken(`${entry.id}.wrong`, audiences, never))
  assert.equal(await authenticator.authenticateToken('other.token', audiences, never), undefined)
  // The token is cached, and revoked at once when it is removed.
  assert.equal((await authenticator.authenticateToken(token, audiences, never))?.user.name, 'ci')
  kept = undefined
  assert.equal(await authenticator.authenticateToken(token, audiences, never), undefined)
})

test('a flood of guesses is refused before it is a flood of work', async () => {
  const { token, entry } = await createStaticToken({ name: 'ci', groups: [], extra: {} })
  const other = await createStaticToken({ name: 'lea', groups: [], extra: {} })
  const find = (id: string) => [entry, other.entry].find((each) => each.id === id)
  const authenticator = createStaticTokenAuthenticator(find, stillClock(startMs))
  const ask = (text: string) => authenticator.authenticateToken(text, audiences, never)
  await ask(token)
  const guesses = Array.from({ length: 500 }, (_, at) => ask(`${entry.id}.guess-${at}`))
  const settled = Promise.allSettled(guesses)
  // Meanwhile known tokens still work, and another user's token is verified.
  assert.equal((await ask(token))?.user.name, 'ci')
  assert.equal((await ask(other.token))?.user.name, 'lea')
  const counts: Record<string, number> = {}
  for (const one of await settled) {
    const why = one.status === 'rejected' ? String(one.reason) : 'let in'
    counts[why] = (counts[why] ?? 0) + 1
  }
  assert.deepEqual(counts, {
    'TokenError: invalid bearer token': 8,
    'StatusError: Too many tokens are being verified, try again': 492,
  })
})

test('TokenReview reports the user of a token, for the requested audiences', async () => {
  const { tokens, issue } = await newServer()
  const review = createTokenReview({ tokens, audiences })
  const ask = async (spec: object) => {
    const object = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec,
    }
    const asker = { name: 'a', groups: [], extra: {} }
    const answer = await review.review({
      object,
      namespace: '',
      user: asker,
      isDryRun: false,
      admitValid: async () => undefined,
      signal: never,
    })
    return answer.status as {
      authenticated: boolean
      error?: string
      user?: { username: string }
      audiences?: string[]
    }
  }
  const token = await issue({ audiences: ['vault', 'other'] })
  const good = await ask({ token, audiences: ['vault'] })
  assert.equal(good.user?.username, 'system:serviceaccount:shop:robot')
  assert.deepEqual(good.audiences, ['vault'])
  const bad = await ask({ token })
  assert.equal(bad.authenticated, undefined)
  assert.match(bad.error ?? '', /audiences/)
})

test('discovery documents let others verify our tokens', async () => {
  const { publicKeyPem } = await newServer()
  const [configuration, keySet] = issuerDocuments({
    issuer,
    keyPems: [publicKeyPem],
    keySetUrl: 'https://10.0.0.1:6443/openid/v1/jwks',
  }).map(({ body }) => JSON.parse(body))
  assert.deepEqual(configuration.id_token_signing_alg_values_supported, ['ES256'])
  assert.equal(keySet.keys[0].alg, 'ES256')
  assert.equal(keySet.keys[0].d, undefined)
})
