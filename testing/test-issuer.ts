import { createHash, createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import { get as getPlain, type IncomingMessage } from 'node:http'
import { createServer, get as getSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { SignJWT } from 'jose'

/** An OpenID Connect issuer with one public client; the test decides who logs in. */
export interface TestIssuer extends AsyncDisposable {
  readonly url: string
  /** PEM. */
  readonly ca: string
  readonly clientId: string
  /** Sets the person who logs in from now on. */
  setPerson(claims: PersonClaims | undefined): void
  /** Visits an address of the issuer as a browser does, with redirects. Resolves with the last status. */
  visit(url: string): Promise<number>
  /** Voids all refresh tokens. */
  endLogins(): void
  /** The refresh tokens that are valid now. */
  refreshTokens(): Iterable<string>
  /** The number of tokens given, by grant. */
  readonly grants: Readonly<Record<string, number>>
  /** The requests to the login page. */
  readonly authorizations: readonly Readonly<Record<string, string>>[]
}

export interface PersonClaims {
  readonly sub: string
  readonly [claim: string]: unknown
}

export interface TestIssuerOptions {
  /** The lifetime of an ID token; default: an hour. */
  readonly idTokenSeconds?: number
  /** Wrong values to send, so that tests see clients check them. */
  readonly wrong?: Readonly<Record<string, unknown>>
  readonly hasDevices?: boolean
  /** The IPv4 address at which it listens, and to which alone it sends people back. Default: loopback. */
  readonly address?: string
}

interface Issuer {
  readonly options: TestIssuerOptions
  readonly key: ReturnType<typeof createPrivateKey>
  url: string
  person: PersonClaims | undefined
  readonly codes: Map<string, { person: PersonClaims; asked: Record<string, string> }>
  /** Each is valid once, as for issuers of public clients (RFC 9700, section 4.14). */
  readonly refreshTokens: Map<string, PersonClaims>
  readonly deviceCodes: Set<string>
  readonly grants: Record<string, number>
  readonly authorizations: Record<string, string>[]
}

interface Answer {
  readonly status: number
  readonly body?: object
  readonly location?: string
}

const clientId = 'skerry'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export async function startTestIssuer(options: TestIssuerOptions = {}): Promise<TestIssuer> {
  const { address = '127.0.0.1' } = options
  const tls = await certificateOf(address)
  const issuer: Issuer = {
    options,
    key: createPrivateKey((await generateKeyPair()).privateKeyPem),
    url: '',
    person: undefined,
    codes: new Map(),
    refreshTokens: new Map(),
    deviceCodes: new Set(),
    grants: {},
    authorizations: [],
  }
  const server = createServer(tls, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const url = new URL(request.url ?? '', issuer.url)
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
      const asked = { ...Object.fromEntries(url.searchParams), ...form }
      void answer(issuer, url.pathname, asked).then(({ status, body, location }) => {
        const headers = { 'content-type': 'application/json', connection: 'close' }
        response.writeHead(status, location === undefined ? headers : { ...headers, location })
        response.end(body === undefined ? '' : JSON.stringify(body))
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  // A server that listens on a port has an address of that sort.
  issuer.url = `https://${address}:${(server.address() as AddressInfo).port}`
  return {
    url: issuer.url,
    ca: tls.ca,
    clientId,
    grants: issuer.grants,
    authorizations: issuer.authorizations,
    setPerson: (claims) => void (issuer.person = claims),
    visit: (url) => visit(url, tls.ca),
    refreshTokens: () => issuer.refreshTokens.keys(),
    endLogins: () => issuer.refreshTokens.clear(),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function visit(url: string, ca: string): Promise<number> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = url.startsWith('https:') ? getSecure(url, { ca }) : getPlain(url)
    asked.once('response', resolve)
    asked.once('error', reject)
  })
  answer.resume()
  const { location } = answer.headers
  return location === undefined ? (answer.statusCode ?? 0) : visit(location, ca)
}

async function certificateOf(address: string): Promise<{ ca: string; cert: string; key: string }> {
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
    ipAddresses: [address],
  })
  return { ca: authority.certificatePem, cert, key: pair.privateKeyPem }
}

async function answer(
  issuer: Issuer,
  path: string,
  asked: Record<string, string>,
): Promise<Answer> {
  switch (path) {
    case '/.well-known/openid-configuration':
      return { status: 200, body: discovery(issuer) }
    case '/keys':
      return { status: 200, body: { keys: [publicKey(issuer)] } }
    case '/authorize':
      return authorize(issuer, asked)
    case '/device':
      return device(issuer)
    case '/token':
      return token(issuer, asked)
    case '/revoke':
      issuer.refreshTokens.delete(asked['token'] ?? '')
      return { status: 200 }
    default:
      return { status: 404 }
  }
}

function discovery({ url, options }: Issuer) {
  return {
    issuer: options.wrong?.['issuer'] ?? url,
    jwks_uri: `${url}/keys`,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    revocation_endpoint: `${url}/revoke`,
    ...(options.hasDevices === false ? {} : { device_authorization_endpoint: `${url}/device` }),
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
    scopes_supported: ['openid', 'offline_access', 'groups'],
    code_challenge_methods_supported: ['S256'],
  }
}

const algorithm = 'ES256'

function publicKey({ key }: Issuer) {
  return { ...createPublicKey(key).export({ format: 'jwk' }), kid: 'one', use: 'sig' }
}

/** Answers the login page, for a person who consents, or for nobody. */
function authorize(issuer: Issuer, asked: Record<string, string>): Answer {
  issuer.authorizations.push(asked)
  const redirect = new URL(asked['redirect_uri'] ?? '')
  const isOurs = redirect.hostname === (issuer.options.address ?? '127.0.0.1')
  if (asked['client_id'] !== clientId || !isOurs) return { status: 400 }
  redirect.searchParams.set('state', asked['state'] ?? '')
  if (asked['code_challenge_method'] !== 'S256' || issuer.person === undefined) {
    const error = issuer.person === undefined ? 'access_denied' : 'invalid_request'
    redirect.searchParams.set('error', error)
    return { status: 302, location: redirect.href }
  }
  const code = randomBytes(16).toString('hex')
  issuer.codes.set(code, { person: issuer.person, asked })
  redirect.searchParams.set('code', code)
  return { status: 302, location: redirect.href }
}

function device({ url, deviceCodes }: Issuer): Answer {
  const code = randomBytes(16).toString('hex')
  deviceCodes.add(code)
  const body = {
    device_code: code,
    user_code: 'WDJB-MJHT',
    verification_uri: `${url}/activate`,
    expires_in: 60,
    interval: 0.05,
  }
  return { status: 200, body }
}

async function token(issuer: Issuer, asked: Record<string, string>): Promise<Answer> {
  const grant = asked['grant_type'] ?? ''
  if (asked['client_id'] !== clientId) return refusal('invalid_client')
  if (grant === 'authorization_code') {
    const code = asked['code'] ?? ''
    const found = issuer.codes.get(code)
    issuer.codes.delete(code)
    if (!found || !isProven(found.asked, asked)) return refusal('invalid_grant')
    return tokens(issuer, { grant, person: found.person, nonce: found.asked['nonce'] })
  }
  if (grant === 'refresh_token') {
    const person = issuer.refreshTokens.get(asked['refresh_token'] ?? '')
    issuer.refreshTokens.delete(asked['refresh_token'] ?? '')
    if (!person) return refusal('invalid_grant', 'the session is over')
    return tokens(issuer, { grant, person: issuer.person ?? person })
  }
  if (grant !== deviceGrant || !issuer.deviceCodes.has(asked['device_code'] ?? '')) {
    return refusal('invalid_grant')
  }
  if (!issuer.person) return refusal('authorization_pending')
  return tokens(issuer, { grant, person: issuer.person })
}

/**
 * Checks the proof of RFC 7636, section 4.6, and that the redirect is the request's (RFC 6749, section
 * 4.1.3).
 */
function isProven(first: Record<string, string>, asked: Record<string, string>): boolean {
  const hash = createHash('sha256').update(asked['code_verifier'] ?? '')
  const isSame = first['redirect_uri'] === asked['redirect_uri']
  return isSame && first['code_challenge'] === hash.digest('base64url')
}

function refusal(error: string, description?: string): Answer {
  const more = description === undefined ? {} : { error_description: description }
  return { status: 400, body: { error, ...more } }
}

async function tokens(
  issuer: Issuer,
  { grant, person, nonce }: { grant: string; person: PersonClaims; nonce?: string | undefined },
): Promise<Answer> {
  const { options, refreshTokens, url } = issuer
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const claims = {
    iss: url,
    aud: clientId,
    iat: nowSeconds,
    exp: nowSeconds + (options.idTokenSeconds ?? 3_600),
    ...person,
    ...(nonce === undefined ? {} : { nonce }),
    ...options.wrong,
  }
  const refreshToken = randomBytes(16).toString('hex')
  refreshTokens.set(refreshToken, person)
  issuer.grants[grant] = (issuer.grants[grant] ?? 0) + 1
  const body = {
    access_token: randomBytes(16).toString('hex'),
    token_type: 'Bearer',
    expires_in: 300,
    refresh_token: refreshToken,
    id_token: await new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, kid: 'one' })
      .sign(issuer.key),
  }
  return { status: 200, body }
}
