import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { AnyObject } from '@skerry/api'
import {
  callApi,
  startTestApiServer,
  startTestWebhook,
  watchApi,
  type JsonReply,
  type TestApiServer,
  type TestWebhook,
  type WebhookReply,
  until,
} from '@skerry/testing'

const patchHeaders = { 'content-type': 'application/merge-patch+json' }

async function define(api: TestApiServer, hook: TestWebhook): Promise<void> {
  const version = (name: string, field: string, isStored: boolean) => ({
    name,
    served: true,
    storage: isStored,
    selectableFields: [{ jsonPath: `.spec.${field}` }],
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { [field]: { type: 'string' } } },
          status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  })
  const reply = await callApi(api.transport, {
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: {
      metadata: { name: 'boats.test.dev' },
      spec: {
        group: 'test.dev',
        scope: 'Namespaced',
        names: { kind: 'Boat', plural: 'boats', singular: 'boat' },
        versions: [version('v1', 'sail', true), version('v2', 'motor', false)],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { url: `${hook.url}/convert`, caBundle: hook.caBundle },
          },
        },
      },
    },
  })
  assert.equal(reply.status, 201, reply.text)
  const boats = () => callApi(api.transport, { path: '/apis/test.dev/v2/boats' })
  await until(async () => (await boats()).status === 200)
}

/** In v1, v2's motor is named sail. */
function converted(body: unknown): WebhookReply {
  const { uid, desiredAPIVersion, objects } = (body as JsonReply).request
  const convertedObjects = objects.map((object: AnyObject & { spec: Record<string, string> }) => {
    const { sail, motor } = object.spec
    const spec = desiredAPIVersion === 'test.dev/v2' ? { motor: sail } : { sail: motor }
    return { ...object, apiVersion: desiredAPIVersion, spec }
  })
  const apiVersion = 'apiextensions.k8s.io/v1'
  const response = { uid, result: { status: 'Success' }, convertedObjects }
  return { apiVersion, kind: 'ConversionReview', response }
}

const boats = (version: string): string => `/apis/test.dev/${version}/namespaces/default/boats`

test('objects of custom kinds are read, written, listed and watched in versions that a webhook converts', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  await using hook = await startTestWebhook(({ body }) => converted(body))
  await define(api, hook)
  const { transport } = api
  const stop = new AbortController()
  const watch = watchApi(
    transport,
    `${boats('v2')}?watch=true&fieldSelector=spec.motor=big`,
    stop.signal,
  )
  const next = watch.next()
  const create = (version: string, name: string, spec: object) =>
    callApi(transport, {
      method: 'POST',
      path: boats(version),
      body: { apiVersion: `test.dev/${version}`, kind: 'Boat', metadata: { name }, spec },
    })
  assert.equal((await create('v1', 'a', { sail: 'small' })).body.spec.sail, 'small')
  const b = await create('v2', 'b', { motor: 'big' })
  assert.deepEqual(
    [b.status, b.body.apiVersion, b.body.spec],
    [201, 'test.dev/v2', { motor: 'big' }],
  )
  const read = await callApi(transport, { path: `${boats('v1')}/b` })
  assert.deepEqual(read.body.spec, { sail: 'big' })
  const list = await callApi(transport, { path: boats('v2') })
  assert.deepEqual(
    list.body.items.map(({ spec }: JsonReply) => spec.motor),
    ['small', 'big'],
  )
  const event = await next
  assert.deepEqual(
    [event.value?.type, event.value?.object.metadata.name, event.value?.object.spec],
    ['ADDED', 'b', { motor: 'big' }],
  )
  const patched = await callApi(transport, {
    method: 'PATCH',
    path: `${boats('v2')}/a`,
    headers: patchHeaders,
    body: { spec: { motor: 'big' } },
  })
  assert.deepEqual(patched.body.spec, { motor: 'big' })
  const later = await watch.next()
  assert.deepEqual([later.value?.type, later.value?.object.metadata.name], ['ADDED', 'a'])
  const deleted = await callApi(transport, { method: 'DELETE', path: `${boats('v2')}/b` })
  assert.equal(deleted.status, 200, deleted.text)
  assert.equal((await watch.next()).value?.type, 'DELETED')
  stop.abort()
  await watch.return()
  const selected = await callApi(transport, {
    path: `${boats('v1')}?fieldSelector=spec.sail%3Dbig`,
  })
  assert.equal(selected.body.items.length, 1)
})

test('the stored version needs no webhook; the others fail with its reason while it does', async () => {
  await using api = await startTestApiServer({ withAccess: true })
  let isDown = false
  await using hook = await startTestWebhook(({ body }) =>
    isDown ? { status: 500, text: 'down' } : converted(body),
  )
  await define(api, hook)
  const body = {
    apiVersion: 'test.dev/v1',
    kind: 'Boat',
    metadata: { name: 'a' },
    spec: { sail: 'x' },
  }
  await callApi(api.transport, { method: 'POST', path: boats('v1'), body })
  assert.equal(hook.requests.length, 0)
  isDown = true
  const failed = await callApi(api.transport, { path: `${boats('v2')}/a` })
  assert.equal(failed.status, 500)
  assert.match(
    failed.body.message,
    /^conversion webhook for test.dev\/v1, Kind=Boat failed: an error on the server \("down"\) has prevented the request from succeeding$/,
  )
  assert.equal((await callApi(api.transport, { path: `${boats('v1')}/a` })).status, 200)
  isDown = false
  assert.equal((await callApi(api.transport, { path: `${boats('v2')}/a` })).body.spec.motor, 'x')
})
