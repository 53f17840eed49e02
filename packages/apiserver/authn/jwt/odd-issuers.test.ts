import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { after, before, test } from 'node:test'
import { loadExpressions } from '@skerry/kinds'
import { seededRandom, systemClock } from '@skerry/base'
import { generateKeyPair } from '@skerry/pki'
import {
  oddJsonAnswers,
  randomValues,
  says,
  startRawPeer,
  tryOddAnswers,
  webhookCertificate,
  withOddValue,
  type RawPeer,
  type Told,
} from '@skerry/testing'
import { CompactSign } from 'jose'
import { TokenError } from '../token-authenticator.ts'
import { readAuthenticationConfig } from './authentication-config.ts'
import { createConfiguredUsers, type ConfiguredUsers } from './configured-users.ts'

/** Another organization runs the issuer. Its answers affect only its own tokens. */
const seed = 20_261_128
const signal = new AbortController().signal
const claims = {
  aud: ['skerry'],
  exp: 4_000_000_000,
  sub: 'ada',
  groups: ['dev'],
  id: '7',
  email: { of: ['ada@example.com'] },
}

let peer: RawPeer
let ca: string
let key: ReturnType<typeof createPrivateKey>

before(async () => {
  await loadExpressions()
  const tls = await webhookCertificate()
  ca = tls.ca
  peer = await startRawPeer(says(''), { tls })
  key = createPrivateKey((await generateKeyPair()).privateKeyPem)
})

after(() => peer[Symbol.dispose]())

const url = (): string => `https://127.0.0.1:${peer.port}`

function right(head: string): string {
  if (!head.startsWith('GET /keys ')) {
    return JSON.stringify({ issuer: url(), jwks_uri: `${url()}/keys` })
  }
  const jwk = createPublicKey(key).export({ format: 'jwk' })
  return JSON.stringify({ keys: [{ ...jwk, kid: 'one', use: 'sig', alg: 'ES256' }] })
}

function users(claimMappings: object): ConfiguredUsers {
  const issuer = { url: url(), certificateAuthority: ca, audiences: ['skerry'] }
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [{ issuer, claimMappings }],
  }
  return createConfiguredUsers(readAuthenticationConfig(JSON.stringify(config)), systemClock)
}

const byClaims = {
  username: { claim: 'sub', prefix: 'oidc:' },
  groups: { claim: 'groups', prefix: 'oidc:' },
  uid: { claim: 'id' },
}

async function whoIs({ tokens }: ConfiguredUsers, payload: string): Promise<Told> {
  const token = await new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .sign(key)
  try {
    return { value: await tokens.authenticateToken(token, ['skerry'], signal) }
  } catch (error) {
    // Any other error would become a 500.
    assert.ok(error instanceof TokenError, String(error))
    return { error: error.message }
  }
}

for (const [what, isTried] of Object.entries({
  'discovery document': (head: string) => !head.startsWith('GET /keys '),
  'set of keys': (head: string) => head.startsWith('GET /keys '),
})) {
  test(`an issuer whose ${what} is odd has no users, and nothing else happens (seed ${seed})`, async () => {
    const ask = () => whoIs(users(byClaims), JSON.stringify({ ...claims, iss: url() }))
    const trial = { peer, right, isTried, ask, names: new RegExp(`${url()}|^oidc: verify token: `) }
    const options = { mutations: 50, rounds: 20, failures: ['404', '503'] }
    await tryOddAnswers(trial, oddJsonAnswers(seededRandom(seed), options))
  })
}

test(`a token with odd claims is its user's or nobody's (seed ${seed})`, async () => {
  peer.answer = (connection, head) => says(answer(right(head)))(connection, head, '')
  const byExpressions = {
    username: { expression: 'claims.sub' },
    groups: { expression: 'claims.groups.map(each, "oidc:" + each)' },
    extra: [{ key: 'example.com/mail', valueExpression: 'claims.email.of[0]' }],
  }
  for (const mapping of [byClaims, byExpressions]) {
    const known = users(mapping)
    const whole = JSON.stringify({ ...claims, iss: url() })
    const wanted = await whoIs(known, whole)
    assert.ok('value' in wanted, JSON.stringify(wanted))
    for (const value of randomValues(seededRandom(seed), 150)) {
      const odd = withOddValue(whole, value)
      if (!odd.startsWith('{')) continue
      const told = await whoIs(known, odd)
      if ('error' in told) assert.match(told.error, /^oidc: /, JSON.stringify(value))
    }
    assert.deepEqual(await whoIs(known, whole), wanted)
  }
})

function answer(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
