import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { after, before, test } from 'node:test'
import { systemClock, seededRandom } from '@skerry/base'
import { createHttpsTransport, fixedCredentials, type HttpsTransport } from '@skerry/client'
import {
  callApi,
  giveRight,
  oddJsonAnswers,
  randomValues,
  says,
  startRawPeer,
  startTestApiServer,
  tryOddAnswers,
  until,
  webhookCertificate,
  withOddValue,
  type ApiCall,
  type OddJsonOptions,
  type RawPeer,
  type TestApiServer,
  type Told,
} from '@skerry/testing'

/** Webhooks run in users' pods. An odd answer affects one request at most. */
const seed = 20_261_127
const namespace = '/api/v1/namespaces/default'
const boats = '/apis/test.dev/v2/namespaces/default/boats'

let peer: RawPeer
let server: TestApiServer
let transport: HttpsTransport

before(async () => {
  const tls = await webhookCertificate()
  peer = await startRawPeer(says(''), { tls })
  server = await startTestApiServer({ withAccess: true })
  const { ca, cert, key } = server.credentials
  const credentials = fixedCredentials({ certificate: cert, key })
  // Use a socket: the in-process transport would hide answers that cannot be written to one.
  transport = createHttpsTransport(
    { server: server.url, certificateAuthority: ca, credentials },
    { clock: systemClock },
  )
  const clientConfig = (path: string) => ({
    url: `https://127.0.0.1:${peer.port}/${path}`,
    caBundle: Buffer.from(tls.ca).toString('base64'),
  })
  await call({ path: `${namespace}/serviceaccounts`, body: { metadata: { name: 'default' } } })
  await define(clientConfig('convert'))
  await configure('mutatingwebhookconfigurations', 'configmaps', clientConfig('mutate'))
  await configure('validatingwebhookconfigurations', 'secrets', clientConfig('validate'))
  await configure('mutatingwebhookconfigurations', 'limitranges', clientConfig('mutate'), 1)
})

after(async () => {
  transport[Symbol.dispose]()
  await server[Symbol.asyncDispose]()
  peer[Symbol.dispose]()
})

async function call(request: ApiCall) {
  const method = request.body === undefined ? 'GET' : 'POST'
  return callApi(transport, { method, ...request })
}

async function configure(
  kind: string,
  resource: string,
  clientConfig: object,
  timeoutSeconds = 10,
): Promise<void> {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: [resource],
  }
  const webhook = {
    name: 'odd.example.com',
    clientConfig,
    rules: [rule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds,
  }
  const body = { metadata: { name: `odd-${resource}` }, webhooks: [webhook] }
  const reply = await call({ path: `/apis/admissionregistration.k8s.io/v1/${kind}`, body })
  assert.equal(reply.status, 201, reply.text)
}

/** Defines a kind with two versions. */
async function define(clientConfig: object): Promise<void> {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const version = (name: string) => ({ name, served: true, storage: name === 'v1', schema })
  const spec = {
    group: 'test.dev',
    scope: 'Namespaced',
    names: { kind: 'Boat', plural: 'boats', singular: 'boat' },
    versions: [version('v1'), version('v2')],
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig },
    },
  }
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await call({ path, body: { metadata: { name: 'boats.test.dev' }, spec } })
  await until(async () => (await call({ path: boats })).status === 200)
}

interface Case {
  readonly names: RegExp
  /** Builds the `response` field of the correct answer. */
  readonly response: (request: {
    objects?: readonly object[]
    desiredAPIVersion?: string
  }) => object
  readonly kind?: string
  readonly options: OddJsonOptions
  readonly ask: (name: string) => Promise<Told>
  readonly askImpatiently?: (name: string) => Promise<Told>
}

const labelled = [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]
const failing = /failed calling webhook "odd.example.com"/
const documents = { rounds: 0, parts: 'documents' } as const

const cases: Readonly<Record<string, Case>> = {
  'a webhook that changes': {
    names: failing,
    response: () => ({
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(labelled)).toString('base64'),
      warnings: ['mind the gap'],
      auditAnnotations: { a: 'b' },
    }),
    options: { mutations: 80, rounds: 0, failures: ['307', '400', '404', '600'] },
    ask: (name) => create('configmaps', name),
    askImpatiently: (name) => create('limitranges', name),
  },
  'a webhook that refuses': {
    names: failing,
    response: () => ({
      allowed: false,
      status: {
        code: 409,
        reason: 'Conflict',
        message: 'no',
        details: { causes: [{ field: 'a' }] },
      },
      warnings: ['mind the gap'],
      auditAnnotations: { a: 'b' },
    }),
    options: { ...documents, mutations: 120 },
    ask: (name) => create('secrets', name),
  },
  'a webhook that converts': {
    names: /conversion webhook for test.dev\/v[12], Kind=Boat/,
    kind: 'apiextensions.k8s.io/v1 ConversionReview',
    response: ({ objects = [], desiredAPIVersion }) => ({
      result: { status: 'Success' },
      convertedObjects: objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion })),
    }),
    options: { ...documents, mutations: 150 },
    async ask(name) {
      const body = { apiVersion: 'test.dev/v2', kind: 'Boat', metadata: { name }, spec: { a: 1 } }
      const reply = await call({ path: `${boats}?dryRun=All`, body })
      if (reply.status === 201) return { value: reply.body.spec }
      assert.equal(reply.body?.kind, 'Status', reply.text)
      return { error: String(reply.body.message) }
    },
  },
}

async function create(resource: string, name: string): Promise<Told> {
  const body = { metadata: { name } }
  const reply = await call({ path: `${namespace}/${resource}?dryRun=All`, body })
  const { message = '', metadata } = reply.body ?? {}
  if (reply.status === 201) return { value: metadata.labels }
  assert.ok(reply.status >= 400 && reply.status <= 599, `${reply.status}`)
  assert.equal(reply.body?.kind, 'Status', reply.text)
  // Validation may reject the patched object.
  if (/denied the request|is invalid: /.test(message)) return { value: message }
  return { error: message }
}

for (const [what, { names, response, kind, options, ask, askImpatiently }] of Object.entries(
  cases,
)) {
  test(`an odd answer of ${what} concerns its request only (seed ${seed})`, async () => {
    const trial = trialOf(kind, response, ask)
    const impatient = askImpatiently && { askImpatiently: () => askImpatiently('late') }
    await tryOddAnswers(
      { ...trial, ...impatient, names },
      oddJsonAnswers(seededRandom(seed), options),
    )
  })
}

test(`an odd patch of a webhook concerns its request only (seed ${seed})`, async () => {
  const { response, ask } = cases['a webhook that changes'] ?? assert.fail()
  const patches = randomValues(seededRandom(seed), 120).map((value) => ({
    what: JSON.stringify(value),
    isNone: false,
    give(connection: Duplex, right: string) {
      const review = JSON.parse(right)
      const patch = withOddValue(JSON.stringify(labelled), value)
      review.response.patch = Buffer.from(patch).toString('base64')
      giveRight(connection, JSON.stringify(review))
    },
  }))
  // Upstream's message does not name the webhook if its patch does not apply.
  const names = /failed calling webhook "odd.example.com"|^Internal error occurred: /
  await tryOddAnswers({ ...trialOf(undefined, response, ask), names }, patches)
})

function trialOf(kind: Case['kind'], response: Case['response'], ask: Case['ask']) {
  const [apiVersion, reviewed] = (kind ?? 'admission.k8s.io/v1 AdmissionReview').split(' ')
  let count = 0
  return {
    peer,
    right: (_head: string, text: string): string => {
      const { request } = JSON.parse(text)
      const answer = { uid: request.uid, ...response(request) }
      return JSON.stringify({ apiVersion, kind: reviewed, response: answer })
    },
    bytesMax: 70 * 1024 * 1024,
    ask: () => ask(`odd-${(count += 1)}`),
  }
}
