import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  callApi,
  startTestApiServer,
  watchApi,
  type ApiCall,
  type TestApiServer,
} from '@skerry/testing'

let server: TestApiServer

before(async () => {
  server = await startTestApiServer()
})
after(async () => {
  await server[Symbol.asyncDispose]()
})

const call = (request: ApiCall) => callApi(server.transport, request)
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

function definition(kind: string, plural: string, schema: unknown) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind, shortNames: [plural.slice(0, 2)] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
          },
          schema: { openAPIV3Schema: schema },
        },
        {
          name: 'v1beta1',
          served: true,
          storage: false,
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  }
}

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        color: { type: 'string', default: 'grey' },
        replicas: { type: 'integer' },
      },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' } } },
  },
}

async function establish(body: ReturnType<typeof definition>) {
  const stop = AbortSignal.timeout(10_000)
  const created = await call({ method: 'POST', path: definitions, body })
  assert.equal(created.status, 201, created.text)
  const path = `${definitions}?watch=1&fieldSelector=metadata.name%3D${body.metadata.name}`
  for await (const { object } of watchApi(server.transport, path, stop)) {
    const conditions: { type: string; status: string; reason: string; message: string }[] =
      object.status?.conditions ?? []
    const established = conditions.find(({ type }) => type === 'Established')
    if (established && established.reason !== 'Installing') return conditions
  }
  throw new Error('The definition was not established')
}

const rocks = '/apis/example.com/v1/namespaces/default/rocks'
const rock = (name: string, spec: unknown) => ({
  apiVersion: 'example.com/v1',
  kind: 'Rock',
  metadata: { name },
  spec,
})

test('a definition’s objects are served, pruned, defaulted and validated', async () => {
  await establish(definition('Rock', 'rocks', schema))
  const list = await call({ path: '/apis/example.com/v1' })
  assert.ok(list.body.resources.some(({ name }: { name: string }) => name === 'rocks/scale'))
  const created = await call({
    method: 'POST',
    path: rocks,
    body: { ...rock('one', { size: 3, moss: true }), status: { replicas: 9 } },
  })
  assert.equal(created.status, 201, created.text)
  assert.deepEqual(created.body.spec, { size: 3, color: 'grey' })
  assert.deepEqual([created.body.status, created.body.metadata.generation], [undefined, 1])
  assert.equal(created.headers['warning'], '299 - "unknown field \\"spec.moss\\""')
  const bad = await call({ method: 'POST', path: rocks, body: rock('bad', { size: 0 }) })
  assert.deepEqual(
    [bad.status, bad.body.message],
    [
      422,
      'Rock.example.com "bad" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ],
  )
})

test('every served version shows the same objects', async () => {
  const { body } = await call({ path: '/apis/example.com/v1beta1/namespaces/default/rocks/one' })
  assert.deepEqual([body.apiVersion, body.spec.size], ['example.com/v1beta1', 3])
})

test('status and scale are written separately from the rest', async () => {
  const { body } = await call({ path: `${rocks}/one` })
  const status = await call({
    method: 'PUT',
    path: `${rocks}/one/status`,
    body: { ...body, spec: { size: 50 }, status: { replicas: 2 } },
  })
  assert.deepEqual([status.body.spec.size, status.body.status], [3, { replicas: 2 }])
  const scaled = await call({
    method: 'PATCH',
    path: `${rocks}/one/scale`,
    body: { spec: { replicas: 4 } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  assert.deepEqual([scaled.body.spec, scaled.body.status], [{ replicas: 4 }, { replicas: 2 }])
})

test('custom resources do not support strategic merge', async () => {
  const reply = await call({
    method: 'PATCH',
    path: `${rocks}/one`,
    body: {},
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
  })
  assert.equal(reply.status, 415)
})

test('names that another resource has are not accepted', async () => {
  const conditions = await establish(definition('Rock', 'boulders', schema))
  const accepted = conditions.find(({ type }) => type === 'NamesAccepted')
  assert.deepEqual(
    [accepted?.status, accepted?.reason, accepted?.message],
    ['False', 'ListKindConflict', '"RockList" is already in use'],
  )
  assert.equal((await call({ path: '/apis/example.com/v1/boulders' })).status, 404)
})

test('a deleted definition takes its objects along and is no longer served', async () => {
  const path = `${definitions}/rocks.example.com`
  const stop = AbortSignal.timeout(10_000)
  const watch = watchApi(server.transport, `${definitions}?watch=1`, stop)
  const deleted = await call({ method: 'DELETE', path })
  assert.deepEqual(deleted.body.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io'])
  for await (const { type, object } of watch) {
    if (type === 'DELETED' && object.metadata.name === 'rocks.example.com') break
  }
  assert.equal((await call({ path: rocks })).status, 404)
  const { entries } = await server.store.list({ prefix: '/registry/example.com/rocks/' })
  assert.equal(entries.length, 0)
})
