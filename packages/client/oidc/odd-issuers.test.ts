import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { after, before, test } from 'node:test'
import { systemClock, ExpectedError, seededRandom } from '@skerry/base'
import {
  oddJsonAnswers,
  says,
  startRawPeer,
  tryOddAnswers,
  webhookCertificate,
  type OddJsonOptions,
  type RawPeer,
  type Told,
} from '@skerry/testing'
import { LoginEndedError, openOidcIssuer } from './oidc-issuer.ts'

/** A login calls another organization's server. An odd answer fails the login with one line. */
const seed = 20_261_130
const signal = new AbortController().signal

let peer: RawPeer
let ca: string
let idToken: string

before(async () => {
  const tls = await webhookCertificate()
  ca = tls.ca
  peer = await startRawPeer(says(''), { tls })
  idToken = signed({ iss: url(), aud: 'skerry', sub: 'ada', exp: 4_000_000_000, iat: 1 })
})

after(() => peer[Symbol.dispose]())

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** A JSON Web Token (RFC 7519). */
function signed(claims: object): string {
  const parts = [{ alg: 'ES256', kid: 'one' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const text = parts.join('.')
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

const url = (): string => `https://127.0.0.1:${peer.port}`

/** Correct answers by request path. */
const documents: Readonly<Record<string, () => object>> = {
  '/.well-known/openid-configuration': () => ({
    issuer: url(),
    jwks_uri: `${url()}/keys`,
    authorization_endpoint: `${url()}/authorize`,
    token_endpoint: `${url()}/token`,
    device_authorization_endpoint: `${url()}/device`,
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['ES256'],
    scopes_supported: ['openid', 'offline_access'],
  }),
  '/keys': () => ({
    keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' }],
  }),
  '/device': () => ({
    device_code: 'a',
    user_code: 'WDJB-MJHT',
    verification_uri: `${url()}/activate`,
    expires_in: 60,
    interval: 0.001,
  }),
  '/token': () => ({
    access_token: 'a',
    token_type: 'Bearer',
    expires_in: 300,
    refresh_token: 'b',
    id_token: idToken,
  }),
}

const pathOf = (head: string): string => head.split(' ')[1] ?? ''
const right = (head: string): string => JSON.stringify(documents[pathOf(head)]?.() ?? {})

async function told(work: () => Promise<unknown>): Promise<Told> {
  try {
    return { value: await work() }
  } catch (error) {
    // The message quotes the issuer and must not contain control characters.
    if (error instanceof LoginEndedError) return { error: `${url()} ${error.message}` }
    assert.ok(error instanceof ExpectedError, String(error))
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(error.message, /[\x00-\x1f\x7f-\x9f]/)
    return { error: error.message }
  }
}

const openIssuer = () =>
  openOidcIssuer(
    { issuerUrl: url(), clientId: 'skerry', scopes: [], authorityPem: ca },
    { clock: systemClock },
    signal,
  )

const asked: Readonly<Record<string, () => Promise<unknown>>> = {
  '/.well-known/openid-configuration': async () => {
    const issuer = await openIssuer()
    return issuer.refresh({ refreshToken: 'b', subject: 'ada' })
  },
  '/device': async () => {
    const issuer = await openIssuer()
    const prompts: unknown[] = []
    const tokens = await issuer.logInByDevice((prompt) => void prompts.push(prompt))
    return [prompts, tokens]
  },
  '/token': async () => {
    const issuer = await openIssuer()
    return issuer.refresh({ refreshToken: 'b', subject: 'ada' })
  },
}

for (const [path, work] of Object.entries(asked)) {
  test(`an issuer that answers oddly at ${path} ends that login with its name (seed ${seed})`, async () => {
    const trial = {
      peer,
      right,
      isTried: (head: string) => pathOf(head) === path,
      ask: () => told(work),
      names: new RegExp(url()),
    }
    const failures = ['307', '404', '503']
    const options: OddJsonOptions =
      path === '/token'
        ? { mutations: 50, rounds: 30, failures }
        : { mutations: 50, rounds: 0, parts: 'documents' }
    await tryOddAnswers(trial, oddJsonAnswers(seededRandom(seed), options))
  })
}
