import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { generateKeyPair, signCertificate } from '@skerry/pki'
import { startTestApiServer, type TestApiServer, until } from '@skerry/testing'

let server: TestApiServer

before(async () => {
  // The answer does not depend on how busy the machine is; yaml-reader.test.ts tests the time
  // limit.
  server = await startTestApiServer({ limits: { yamlMs: 30_000 } })
  assert.equal((await send({ body: object('kept') })).status, 201)
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

const configMaps = '/api/v1/namespaces/default/configmaps'
const json = 'application/json'
const yaml = 'application/yaml'
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'

interface Sent {
  readonly method?: 'GET' | 'PATCH' | 'POST'
  readonly path?: string
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

async function send({ method = 'POST', path = configMaps, body, headers }: Sent) {
  const answer = await server.transport.send(
    {
      method,
      path,
      headers: { 'content-type': json, ...headers },
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    },
    AbortSignal.timeout(20_000),
  )
  const parts: Uint8Array[] = []
  for await (const part of answer.body) parts.push(part)
  const value: { message?: string } = JSON.parse(Buffer.concat(parts).toString())
  return { status: answer.status, message: value.message ?? '' }
}

function object(name: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
}

/** Returns a text around one byte sequence that is not valid text. */
function around(before: string, bytes: readonly number[], afterwards: string): Uint8Array {
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(afterwards)])
}

function aliasBomb(): string {
  const nine = (item: string): string => `[${Array(9).fill(item).join(',')}]`
  const lines = Array.from({ length: 8 }, (_, at) => `a${at + 1}: &a${at + 1} ${nine(`*a${at}`)}`)
  return `${head}a0: &a0 ${nine('x')}\n${lines.join('\n')}\n`
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}`
const indented = Array.from({ length: 1_500 }, (_, at) => `${' '.repeat(at + 1)}a:`).join('\n')
const asYaml = { headers: { 'content-type': yaml } }

const bodies: Readonly<Record<string, Sent & { status: number; says: RegExp | string }>> = {
  'is huge': {
    body: `{"a":"${'x'.repeat(3 * 1024 * 1024)}"}`,
    status: 413,
    says: 'Request entity too large: limit is 3145728',
  },
  'is as deep as is allowed': {
    body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":${nested(9_999)}}`,
    status: 201,
    says: '',
  },
  'is one level deeper': {
    body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":${nested(10_000)}}`,
    status: 400,
    says: /json parse error: invalid character '\[' exceeded max depth \(/,
  },
  'is two hundred thousand members': {
    body: `{"a":{${Array.from({ length: 200_000 }, (_, at) => `"u${at}":1`).join(',')}}}`,
    status: 413,
    says: 'Request entity too large: limit is 300000 members and commas',
  },
  'is a hundred thousand levels deep': {
    body: `{"x":${nested(100_000)}}`,
    status: 400,
    says: /json parse error: invalid character '\[' exceeded max depth \(/,
  },
  'is deep YAML': {
    body: `${head}x:\n${indented}\n`,
    ...asYaml,
    status: 400,
    says: /: yaml: exceeded max depth of 500 \(/,
  },
  'is an alias bomb': {
    body: aliasBomb(),
    ...asYaml,
    status: 400,
    says: /: yaml: Excessive alias/,
  },
  'is a map that is a key of a map, five hundred times': {
    body: `${head}x:\n  ${'? '.repeat(500)}`,
    ...asYaml,
    status: 400,
    says: /: yaml: invalid map key: (map\[interface \{\}\]interface \{\}\{)+.{0,40}\.\.\. \(/,
  },
  'is two thousand brackets of YAML': {
    body: `${head}x: ${'['.repeat(2_000)}`,
    ...asYaml,
    status: 400,
    says: /: yaml: /,
  },
  'is a cycle': {
    body: `${head}x: &a [*a]\n`,
    ...asYaml,
    status: 400,
    says: "the object provided is unrecognized (must be of type ConfigMap): yaml: anchor 'a' value contains itself (61706956657273696f6e3a2076310a6b696e643a20436f6e6669674d6170 ...)",
  },
  'is not UTF-8 in YAML': {
    body: around(`${head}data: {a: "`, [0xff], '"}\n'),
    ...asYaml,
    status: 400,
    says: /yaml: invalid UTF-8 octet/,
  },
  'is not UTF-8 in JSON': {
    body: around(object('bytes').slice(0, -1) + ',"data":{"a":"', [0xff, 0xfe], '"}}'),
    status: 201,
    says: '',
  },
  'is of an unknown type': {
    body: object('a'),
    headers: { 'content-type': 'text/plain' },
    status: 415,
    says: 'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  },
  'is compressed': {
    body: gzipSync(object('a')),
    headers: { 'content-encoding': 'gzip' },
    status: 400,
    says: /json parse error: invalid character '\\x1f' looking for beginning of value \(1f8b/,
  },
}

for (const [name, { status, says, ...sent }] of Object.entries(bodies)) {
  test(`a body that ${name} has its answer`, async () => {
    const answer = await send(sent)
    assert.equal(answer.status, status, answer.message)
    if (typeof says === 'string') assert.equal(answer.message, says)
    else assert.match(answer.message, says)
  })
}

test('operations that nest a document into itself are refused, and the server goes on', async () => {
  const add = { op: 'add', path: '/x', value: { a: {} } }
  const copies = Array.from({ length: 14 }, (_, at) => {
    return { op: 'copy', from: '/x', path: `/x${'/a'.repeat(2 ** (at + 1))}` }
  })
  const layer: unknown = JSON.parse(objects(4_000))
  const layers = Array.from({ length: 6 }, (_, at) => {
    return { op: 'add', path: `/x${'/a'.repeat(4_000 * at)}`, value: layer }
  })
  const headers = { 'content-type': 'application/json-patch+json' }
  for (const operations of [[add, ...copies], layers]) {
    const body = JSON.stringify(operations)
    const path = `${configMaps}/kept`
    const { status, message } = await send({ method: 'PATCH', path, body, headers })
    assert.equal(status, 422, message)
    assert.equal(message, 'the server rejected our request due to an error in our request')
  }
  assert.equal((await send({ method: 'GET', path: `${configMaps}/kept` })).status, 200)
})

test('selectors of hundreds of kilobytes are answered', async () => {
  const table: readonly (readonly [string, number])[] = [
    [`labelSelector=${'a'.repeat(900_000)}`, 400],
    [`labelSelector=${'('.repeat(500_000)}`, 400],
    [`labelSelector=a+in+(${'b,'.repeat(200_000)}b)`, 200],
    [`labelSelector=${'a%3Db,'.repeat(80_000)}a%3Db`, 200],
    [`fieldSelector=${'metadata.name%3Da,'.repeat(30_000)}metadata.name%3Da`, 200],
    [`fieldSelector=${'a'.repeat(900_000)}`, 400],
  ]
  for (const [query, status] of table) {
    const answer = await send({ method: 'GET', path: `${configMaps}?${query}` })
    assert.equal(answer.status, status, query.slice(0, 40))
  }
})

test('a query of more parameters than anybody needs is refused', async () => {
  const path = `${configMaps}?${'a&'.repeat(1_100)}`
  const answer = await send({ method: 'GET', path })
  assert.equal(answer.status, 400)
  assert.equal(answer.message, 'the query has too many parameters: limit is 1000')
  const few = await send({ method: 'GET', path: `${configMaps}?${'a&'.repeat(900)}` })
  assert.equal(few.status, 200)
})

test('an object that could not be stored is refused with its limit, also by a dry run', async () => {
  const data = Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`k${at}`, '']))
  const body = JSON.stringify({ ...JSON.parse(object('large')), data })
  for (const query of ['', '?dryRun=All']) {
    const { status, message } = await send({ path: `${configMaps}${query}`, body })
    assert.equal(status, 413, query)
    const limit = 'Request entity too large: limit for a stored object is 1572864 bytes'
    assert.equal(message, limit)
  }
})

test('a protobuf body of millions of fields is refused', async () => {
  const type = [0x0a, 0x0f, 0x0a, 0x02, 0x76, 0x31, 0x12, 0x09, ...Buffer.from('ConfigMap')]
  const fields = Buffer.alloc(2_097_152 - 1, Buffer.from([0x12, 0x00]))
  const raw = Buffer.concat([Buffer.from([0x12, 0xff, 0xff, 0x7f]), fields])
  const body = Buffer.concat([Buffer.from('k8s\0'), Buffer.from(type), raw])
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  const { status, message } = await send({ body, headers })
  assert.equal(status, 413, message)
  assert.equal(message, 'Request entity too large: limit is 300000 fields')
})

test('a name reaches no other object, whatever is in it', async () => {
  for (const name of ['a%2fb', 'a%00b', '%C3%BC', 'a'.repeat(254), '/kept', 'kept%2f..']) {
    const { status } = await send({ method: 'GET', path: `${configMaps}/${name}` })
    assert.equal(status, 404, name)
  }
  for (const name of ['a/b', '..', 'ü', 'a%2fb', 'a\u0000b', 'a'.repeat(254), 'kept/']) {
    const { status, message } = await send({ body: object(name) })
    assert.equal(status, 422, message)
    assert.match(message, /metadata\.name: Invalid value: /)
  }
})

/** One kind whose spec accepts anything, and one whose spec is a map of typed objects. */
async function defineThings(): Promise<void> {
  const count = { type: 'array', items: { type: 'integer' } }
  const entry = { type: 'object', properties: { count } }
  const specs = {
    Open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    Table: { type: 'object', additionalProperties: entry },
  }
  for (const [kind, spec] of Object.entries(specs)) {
    const plural = `${kind.toLowerCase()}s`
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
    const group = 'hostile.example.com'
    await server.objects.create(
      { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          scope: 'Cluster',
          names: { plural, kind },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
    )
    await served(`${plural}.${group}`)
  }
}

/** Definitions are established in the background. */
async function served(name: string): Promise<void> {
  const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
  await until(() => {
    const text = JSON.stringify(server.objects.get(definitions, '', name)?.['status'] ?? {})
    return text.includes('InitialNamesAccepted')
  })
}

function thing(kind: string, spec: string): string {
  return `{"apiVersion":"hostile.example.com/v1","kind":"${kind}","metadata":{"name":"kept"},"spec":${spec}}`
}

test('custom objects may be as deep as a body, however they are written', async () => {
  await defineThings()
  const collection = '/apis/hostile.example.com/v1/opens'
  const path = `${collection}/kept`
  const deep = objects(9_990)
  const patch = (type: string, body: string, query = ''): Sent => ({
    method: 'PATCH',
    path: `${path}${query}`,
    body,
    headers: { 'content-type': `application/${type}` },
  })
  for (const sent of [
    { path: collection, body: thing('Open', deep) },
    patch('merge-patch+json', `{"spec":{"b":${objects(9_990)}}}`),
    patch('json-patch+json', `[{"op":"add","path":"/spec/c","value":${objects(9_990)}}]`),
    patch('apply-patch+yaml', thing('Open', deep), '?fieldManager=a&force=true'),
    patch('apply-patch+yaml', thing('Open', '{}'), '?fieldManager=a&force=true'),
    { method: 'GET', path: collection } as const,
  ]) {
    const { status, message } = await send(sent)
    assert.ok(status < 300, `${status} ${message}`)
  }
})

test('a key as long as a body is not repeated for each error below it', async () => {
  const key = 'k'.repeat(1_000_000)
  const path = '/apis/hostile.example.com/v1/tables'
  const wrong = `{"${key}":{"count":[${Array(100_000).fill('"x"').join(',')}]}}`
  const unknown = `{"${key}":{${Array.from({ length: 50_000 }, (_, at) => `"u${at}":1`).join(',')}}}`
  const table: readonly (readonly [Sent, number])[] = [
    [{ path, body: thing('Table', wrong) }, 422],
    [{ path: `${path}?fieldValidation=Strict`, body: thing('Table', unknown) }, 400],
  ]
  for (const [sent, status] of table) {
    const answer = await send(sent)
    assert.equal(answer.status, status, answer.message.slice(0, 200))
    assert.ok(answer.message.length < 8 * 1024 * 1024, `${answer.message.length} characters`)
  }
})

test("a question about one's own rights is short", async () => {
  for (const [group, kind] of [
    ['authorization', 'SelfSubjectAccessReview'],
    ['authorization', 'SelfSubjectRulesReview'],
    ['authentication', 'SelfSubjectReview'],
  ] as const) {
    const path = `/apis/${group}.k8s.io/v1/${kind.toLowerCase()}s`
    for (const type of [json, yaml]) {
      const body = `{"kind":"${kind}","x":"${'x'.repeat(64 * 1024)}"}`
      const { status, message } = await send({ path, body, headers: { 'content-type': type } })
      assert.equal(status, 413, message)
      assert.equal(message, 'Request entity too large: limit is 65536')
    }
  }
})

test('a body that is a hundred thousand aliases is refused, by their number or by the time they take', async () => {
  const body = `${head}a: &a x\nb: [${'*a,'.repeat(100_000)}]\n`
  const { status, message } = await send({ body, ...asYaml })
  const refusals: Record<number, RegExp> = {
    400: /: yaml: Excessive alias/,
    413: /^Request entity too large: this YAML takes more time or memory to read than is granted/,
  }
  assert.match(message, refusals[status] ?? /^$/, `${status}`)
})

test('a user who may not write is refused before any of the body arrives', async () => {
  await using guarded = await startTestApiServer({ withAccess: true })
  const path = `${guarded.url}${configMaps}`
  for (const [headers, expected] of [
    [{}, 403],
    [{ authorization: 'Bearer unknown' }, 401],
  ] as const) {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
    const request = httpsRequest(path, {
      method: 'POST',
      ca: guarded.credentials.ca,
      agent: false,
      headers: { ...headers, 'content-type': json, 'content-length': '3000000' },
    })
    request.on('response', (response) => resolve(response.statusCode))
    request.on('error', reject)
    request.flushHeaders()
    assert.equal(await promise, expected)
    request.destroy()
  }
})

test('the bodies of one user share a bound, and another user is served', async () => {
  const userOf = (name: string) => ({ user: { name, groups: ['system:authenticated'], extra: {} } })
  await using bounded = await startTestApiServer({
    limits: { bodiesBytesPerUserMax: 100_000, bodiesBytesMax: 1_000_000 },
    access: () => ({
      authenticators: [{ authenticate: async ({ headers }) => userOf(headers['x-name'] ?? '') }],
      authorizers: [{ authorize: async () => ({ verdict: 'allow', reason: '' }) }],
      admission: [],
      subresources: {},
    }),
  })
  const post = (user: string, bytes: number): Promise<number | undefined> => {
    const name = `${user}-${bytes}`
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
    const request = httpsRequest(`${bounded.url}${configMaps}`, {
      method: 'POST',
      ca: bounded.credentials.ca,
      agent: false,
      headers: { 'x-name': user, 'content-type': json },
    })
    request.on('response', (response) => resolve(response.resume().statusCode))
    request.on('error', reject)
    const data = { a: 'a'.repeat(bytes) }
    request.end(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }))
    return promise
  }
  assert.equal(await post('mallory', 200_000), 429)
  assert.equal(await post('mallory', 1_000), 201, 'a refused body is not held')
  assert.equal(await post('alice', 90_000), 201)
})

test('bodies that others may not send are accepted from an administrator of the whole cluster', async () => {
  const limits = { largeBodyBytes: 1_000, bodiesBytesMax: 4_000, bodiesBytesPerUserMax: 2_000 }
  await using small = await startTestApiServer({ withAccess: true, limits })
  const resourceAttributes = { verb: 'get', resource: 'pods', name: 'a'.repeat(8_000) }
  const body = JSON.stringify({ spec: { resourceAttributes } })
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const ask = async (credentials: { cert: string; key: string }): Promise<number> => {
    const headers = { 'content-type': json }
    const options = { ca: small.credentials.ca, ...credentials, headers }
    const request = httpsRequest(new URL(path, small.url), { ...options, method: 'POST' })
    const [answer] = await once(request.end(body), 'response')
    answer.resume()
    return answer.statusCode
  }
  const { privateKeyPem: key, publicKeyPem } = await generateKeyPair()
  const cert = await signCertificate(small.authority, {
    subject: { commonName: 'sven' },
    publicKeyPem,
    notBeforeMs: Date.now() - 60_000,
    notAfterMs: Date.now() + 3_600_000,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  assert.equal(await ask({ cert, key }), 429)
  assert.equal(await ask(small.credentials), 201)
})
