import assert from 'node:assert/strict'
import { createPrivateKey, sign, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { createHttpsTransport, type ClientCredentials } from '@skerry/client'
import {
  createAuthority,
  generateKeyPair,
  signCertificate,
  signNodeToken,
  spkiHash,
} from '@skerry/pki'
import { callApi, startTestApiServer, type ApiCall, type ApiReply } from '@skerry/testing'

const hourMs = 3_600_000
const issuer = 'https://kubernetes.default.svc.cluster.local'
const maps = '/api/v1/namespaces/shop/configmaps'
const clientKey = 'skerry.io/client-key'

interface Pair {
  readonly certificatePem: string
  readonly privateKeyPem: string
}

/** A site with the nodes n1 and n2, a pod `app` on n1, whose account reads ConfigMaps, and a pod `other` on n2. */
class TokenScene implements AsyncDisposable {
  readonly site: Awaited<ReturnType<typeof startTestApiServer>>
  readonly pods: Readonly<Record<string, string>>
  readonly n1: Pair

  private constructor(
    site: TokenScene['site'],
    parts: { pods: Readonly<Record<string, string>>; n1: Pair },
  ) {
    this.site = site
    this.pods = parts.pods
    this.n1 = parts.n1
  }

  static async start(): Promise<TokenScene> {
    const namespaces = ['default', 'kube-system', 'shop']
    const site = await startTestApiServer({ withAccess: true, namespaces })
    const pods: Record<string, string> = {}
    const n1 = await certificateOf(site.authority, 'n1')
    const scene = new TokenScene(site, { pods, n1 })
    await scene.node('n1', n1)
    await scene.node('n2', await certificateOf(site.authority, 'n2'))
    const shop = '/api/v1/namespaces/shop'
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop'
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
    ]
    for (const [name, nodeName] of [
      ['app', 'n1'],
      ['other', 'n2'],
    ] as const) {
      const metadata = { name }
      await scene.admin({ method: 'POST', path: `${shop}/serviceaccounts`, body: { metadata } })
      await scene.admin({ method: 'POST', path: `${rbac}/roles`, body: { metadata, rules } })
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
      const subjects = [{ kind: 'ServiceAccount', name, namespace: 'shop' }]
      const binding = { metadata, roleRef, subjects }
      await scene.admin({ method: 'POST', path: `${rbac}/rolebindings`, body: binding })
      const sources = [{ serviceAccountToken: { audience: 'vault', path: 'vault' } }]
      const spec = {
        nodeName,
        serviceAccountName: name,
        containers: [{ name: 'app', image: 'app:1' }],
        volumes: [{ name: 'vault', projected: { sources } }],
      }
      const made = await scene.admin({
        method: 'POST',
        path: `${shop}/pods`,
        body: { metadata, spec },
      })
      pods[name] = made.body.metadata.uid
    }
    return scene
  }

  async node(name: string, { certificatePem }: Pair): Promise<void> {
    const metadata = { name, annotations: { [clientKey]: spkiHash(certificatePem) } }
    await this.admin({ method: 'POST', path: '/api/v1/nodes', body: { metadata } })
  }

  async admin(call: ApiCall): Promise<ApiReply> {
    const reply = await callApi(this.site.transport, call)
    if (reply.status >= 300) throw new Error(`${call.path}: ${reply.text}`)
    return reply
  }

  async as(credentials: ClientCredentials, call: ApiCall): Promise<ApiReply> {
    const { url, credentials: own } = this.site
    using transport = createHttpsTransport(
      {
        server: url,
        certificateAuthority: own.ca,
        credentials: () => Promise.resolve(credentials),
      },
      { clock: systemClock },
    )
    return callApi(transport, call)
  }

  /** Lets a node request a token of a pod's account. */
  async requested(
    credentials: ClientCredentials,
    { account, pod = account, audiences }: { account: string; pod?: string; audiences?: string[] },
  ): Promise<ApiReply> {
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: pod, uid: this.pods[pod] ?? '' }
    const path = `/api/v1/namespaces/shop/serviceaccounts/${account}/token`
    const spec = { boundObjectRef, ...(audiences ? { audiences } : {}) }
    return this.as(credentials, { method: 'POST', path, body: { spec } })
  }

  /** Returns what the site says about whose token it is, for an audience. */
  async review(token: string, audience = issuer): Promise<{ user: string; error: string }> {
    const path = '/apis/authentication.k8s.io/v1/tokenreviews'
    const spec = { token, audiences: [audience] }
    const { body } = await this.admin({ method: 'POST', path, body: { spec } })
    return { user: body.status.user.username ?? '', error: body.status.error ?? '' }
  }

  /** The claims of a good token that n1 signs for the pod `app`. */
  async claims(): Promise<Claims> {
    const { body } = await this.requested(clientOf(this.n1), { account: 'app' })
    if (body.status.token === undefined) throw new Error(JSON.stringify(body))
    const { token } = signNodeToken(
      body.status.token,
      { nodeName: 'n1', ...this.n1 },
      { nowMs: Date.now() },
    )
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.site[Symbol.asyncDispose]()
  }
}

type Claims = Record<string, unknown> & { 'kubernetes.io': Record<string, object> }

function clientOf({ certificatePem: certificate, privateKeyPem: key }: Pair): ClientCredentials {
  return { certificate, key }
}

async function certificateOf(
  authority: Parameters<typeof signCertificate>[0],
  nodeName: string,
  more: Partial<Parameters<typeof signCertificate>[1]> = {},
): Promise<Pair> {
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
    publicKeyPem,
    notBeforeMs: Date.now() - hourMs,
    notAfterMs: Date.now() + hourMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
    ...more,
  })
  return { certificatePem, privateKeyPem }
}

/** Signs any claims with any key, as a thief of it could. */
function forged(claims: object, pair: Pair, alg = 'ES256'): string {
  const x5c = [new X509Certificate(pair.certificatePem).raw.toString('base64')]
  const text = [{ alg, typ: 'JWT', x5c }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const key = createPrivateKey(pair.privateKeyPem)
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

test('a token that a node has signed for its pod is accepted as the account of that pod, and marked', async () => {
  await using scene = await TokenScene.start()
  const token = forged(await scene.claims(), scene.n1)
  assert.equal((await scene.as({ bearerToken: token }, { path: maps })).status, 200)
  assert.equal((await scene.as({ bearerToken: token }, { path: '/api/v1/nodes' })).status, 403)
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { body } = await scene.as({ bearerToken: token }, { method: 'POST', path, body: {} })
  assert.equal(body.status.userInfo.username, 'system:serviceaccount:shop:app')
  const { extra } = body.status.userInfo
  assert.deepEqual(extra['authentication.skerry.io/signed-by-node'], ['n1'])
  assert.deepEqual(extra['authentication.kubernetes.io/pod-name'], ['app'])
})

test('a token that a node has signed brings no other token', async () => {
  await using scene = await TokenScene.start()
  const own = await scene.requested(clientOf(scene.n1), { account: 'app' })
  const given = await scene.requested({ bearerToken: own.body.status.token }, { account: 'other' })
  assert.equal(given.status, 201, 'the account may request tokens')
  const bearerToken = forged(await scene.claims(), scene.n1)
  for (const account of ['app', 'other']) {
    const refused = await scene.requested({ bearerToken }, { account })
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /a token that a node has signed brings no other/)
  }
})

test('a node signs a token in vain where it could not request the same one', async () => {
  await using scene = await TokenScene.start()
  const good = await scene.claims()
  const { serviceaccount, pod } = good['kubernetes.io']
  const accounts = '/api/v1/namespaces/shop/serviceaccounts'
  const { body: other } = await scene.admin({ path: `${accounts}/other` })
  const otherAccount = { name: 'other', uid: other.metadata.uid }
  const otherPod = { name: 'other', uid: scene.pods['other'] }
  const rows: readonly (readonly [account: string, pod: string, audience: string, may: boolean])[] =
    [
      ['app', 'app', issuer, true],
      ['app', 'app', 'vault', true],
      ['app', 'app', 'bank', false],
      ['other', 'other', issuer, false],
      ['other', 'app', issuer, false],
      ['app', 'other', issuer, false],
    ]
  for (const [account, podName, audience, may] of rows) {
    const audiences = audience === issuer ? [] : [audience]
    const asked = await scene.requested(clientOf(scene.n1), { account, pod: podName, audiences })
    assert.equal(asked.status === 201, may, `${account} ${podName} ${audience}: ${asked.text}`)
    const claims = {
      ...good,
      aud: [audience],
      'kubernetes.io': {
        ...good['kubernetes.io'],
        serviceaccount: account === 'app' ? serviceaccount : otherAccount,
        pod: podName === 'app' ? pod : otherPod,
      },
    }
    const { user } = await scene.review(forged(claims, scene.n1), audience)
    assert.equal(user !== '', may, `${account} ${podName} ${audience}`)
  }
})

test('a token of a node is refused if its key, its node, its dates or its content are not right', async () => {
  await using scene = await TokenScene.start()
  const { authority } = scene.site
  const good = await scene.claims()
  const own = good['kubernetes.io']
  const nowS = Math.floor(Date.now() / 1_000)
  const stranger = await createAuthority({
    subject: { commonName: 'test-ca' },
    notBeforeMs: Date.now() - hourMs,
    notAfterMs: Date.now() + hourMs,
  })
  const person = { commonName: 'system:node:n1', organizations: ['people'] }
  const ended = { notBeforeMs: Date.now() - 2 * hourMs, notAfterMs: Date.now() - hourMs }
  const changed = (more: object) => forged({ ...good, ...more }, scene.n1)
  const bound = (more: object) => changed({ 'kubernetes.io': { ...own, ...more } })
  const by = async (...given: Parameters<typeof certificateOf>) =>
    forged(good, await certificateOf(...given))
  const valid = forged(good, scene.n1)
  const rows: readonly (readonly [why: string, token: string])[] = [
    ['another key of the same node', await by(authority, 'n1')],
    ['the key of another node', await by(authority, 'n2')],
    ['a certificate of another authority', await by(stranger, 'n1')],
    ['a certificate for servers', await by(authority, 'n1', { extendedUsages: ['serverAuth'] })],
    ['a certificate that has ended', await by(authority, 'n1', ended)],
    ['a person of the same name', await by(authority, 'n1', { subject: person })],
    ['another algorithm', forged(good, scene.n1, 'RS256')],
    ['no algorithm', forged(good, scene.n1, 'none')],
    ['a changed signature', `${valid.slice(0, -4)}AAAA`],
    ['the name of another node', changed({ iss: 'urn:skerry:node:n2' })],
    ['a life of two hours', changed({ iat: nowS, exp: nowS + 7_200 })],
    ['no time of issue', changed({ iat: undefined })],
    ['a later begin than its issue', changed({ iat: nowS, nbf: nowS + 1_800 })],
    ['a token that has ended', changed({ iat: nowS - 4_000, nbf: nowS - 4_000, exp: nowS - 400 })],
    ['two audiences', changed({ aud: [issuer, 'vault'] })],
    ['no audience', changed({ aud: [] })],
    ['another uid of the pod', bound({ pod: { name: 'app', uid: scene.pods['other'] } })],
    ['no uid of the pod', bound({ pod: { name: 'app' } })],
    ['no pod', bound({ pod: undefined })],
    ['no node', bound({ node: undefined })],
    ['another uid of the node', bound({ node: { name: 'n1', uid: 'other' } })],
    ['another uid of the account', bound({ serviceaccount: { name: 'app', uid: 'other' } })],
    ['a secret', bound({ secret: { name: 'a', uid: 'b' } })],
  ]
  assert.equal((await scene.review(valid)).user, 'system:serviceaccount:shop:app')
  for (const [why, token] of rows) {
    assert.equal((await scene.review(token)).user, '', why)
    assert.equal((await scene.as({ bearerToken: token }, { path: maps })).status, 401, why)
  }
})

test('tokens of a node end with the pod, and with the node', async () => {
  await using scene = await TokenScene.start()
  const token = forged(await scene.claims(), scene.n1)
  const user = async () => (await scene.review(token)).user
  assert.notEqual(await user(), '')
  await scene.admin({ method: 'DELETE', path: '/api/v1/nodes/n1' })
  assert.equal(await user(), '', 'the node is gone')
  await scene.node('n1', await certificateOf(scene.site.authority, 'n1'))
  assert.equal(await user(), '', 'another machine has the name of the node')
  await scene.admin({ method: 'DELETE', path: '/api/v1/nodes/n1' })
  await scene.node('n1', scene.n1)
  assert.equal(await user(), '', 'the node was made again')
  const again = forged(await scene.claims(), scene.n1)
  assert.notEqual((await scene.review(again)).user, '')
  const pod = '/api/v1/namespaces/shop/pods/app?gracePeriodSeconds=0'
  await scene.admin({ method: 'DELETE', path: pod })
  assert.equal((await scene.review(again)).user, '', 'the pod is gone')
})
