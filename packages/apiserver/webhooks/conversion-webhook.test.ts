import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { AnyObject, CustomResourceDefinition, JsonObject } from '@skerry/api'
import { systemClock, seededRandom } from '@skerry/base'
import {
  startTestWebhook,
  type JsonReply,
  type TestWebhook,
  type WebhookReply,
} from '@skerry/testing'
import { ObjectTable } from '../testing/object-table.ts'
import { convertByWebhook } from './conversion-webhook.ts'
import { createWebhookClient } from './webhook-client.ts'

const signal = new AbortController().signal

function definition(hook: TestWebhook): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boats.test.dev' },
    spec: {
      group: 'test.dev',
      names: { kind: 'Boat', plural: 'boats' },
      scope: 'Namespaced',
      versions: [],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v2', 'v1'],
          clientConfig: { url: `${hook.url}/convert`, caBundle: hook.caBundle },
        },
      },
    },
  }
}

function boat(name: string, version = 'v1'): AnyObject {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, labels: { a: 'b' } }
  return { apiVersion: `test.dev/${version}`, kind: 'Boat', metadata, sails: 2 }
}

const upgraded = (object: AnyObject): AnyObject => ({ ...object, apiVersion: 'test.dev/v2' })

function answer(body: unknown, response: JsonObject): WebhookReply {
  const { uid } = (body as JsonReply).request
  const result = { status: 'Success' }
  const apiVersion = 'apiextensions.k8s.io/v1'
  return { apiVersion, kind: 'ConversionReview', response: { uid, result, ...response } }
}

async function convert(hook: TestWebhook, objects: readonly AnyObject[]): Promise<AnyObject[]> {
  const random = seededRandom(1)
  const client = createWebhookClient({ objects: new ObjectTable(), clock: systemClock, random })
  const wanted = { apiVersion: 'test.dev/v2', signal }
  return convertByWebhook(definition(hook), objects, wanted, { client, random })
}

test('objects are converted in one request and keep their order and their identity', async () => {
  await using hook = await startTestWebhook(({ body }) => {
    const { objects } = (body as JsonReply).request
    const convertedObjects = objects.map((object: AnyObject) => ({
      ...upgraded(object),
      metadata: { ...object.metadata, labels: { c: 'd' }, finalizers: ['gone'] },
    }))
    return answer(body, { convertedObjects })
  })
  const converted = await convert(hook, [boat('a'), boat('b', 'v2'), boat('c')])
  assert.deepEqual(
    converted.map(({ apiVersion, metadata }) => [apiVersion, metadata.name, metadata.labels]),
    [
      ['test.dev/v2', 'a', { c: 'd' }],
      ['test.dev/v2', 'b', { a: 'b' }],
      ['test.dev/v2', 'c', { c: 'd' }],
    ],
  )
  assert.equal(converted[0]?.metadata.finalizers, undefined)
  assert.equal(hook.requests.length, 1)
  assert.equal(hook.requests[0]?.path, '/convert?timeout=30s')
})

const failures: [name: string, reply: (body: unknown) => WebhookReply, why: string][] = [
  [
    'a refusal',
    (body) => answer(body, { result: { status: 'Failed', message: 'no' } }),
    'failed: no',
  ],
  [
    'no status',
    (body) => answer(body, { result: {} }),
    "failed: response.result.status was '', not 'Success'",
  ],
  [
    'nothing',
    () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }),
    'failed: no response provided',
  ],
  [
    'another kind',
    () => ({ kind: 'Foo' }),
    'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=Foo',
  ],
  ['too few', (body) => answer(body, {}), 'returned 0 objects, expected 1'],
  [
    'another version',
    (body) => answer(body, { convertedObjects: [boat('a')] }),
    'returned invalid object at index 0: invalid groupVersion (expected test.dev/v2, received test.dev/v1)',
  ],
  [
    'another name',
    (body) =>
      answer(body, {
        convertedObjects: [
          upgraded({ ...boat('b'), metadata: { ...boat('a').metadata, name: 'b' } }),
        ],
      }),
    'returned invalid object: must have the same name: a != b',
  ],
  [
    'no metadata',
    (body) => answer(body, { convertedObjects: [{ apiVersion: 'test.dev/v2', kind: 'Boat' }] }),
    'returned invalid object: must have the same name: a != ',
  ],
  [
    'a bad label',
    (body) =>
      answer(body, {
        convertedObjects: [
          upgraded({ ...boat('a'), metadata: { ...boat('a').metadata, labels: { '-': 'x' } } }),
        ],
      }),
    'returned invalid metadata: metadata.labels: Invalid value: "-": ',
  ],
]

test('an answer that is not the same object in the version asked for is refused in the words of upstream', async () => {
  for (const [name, reply, why] of failures) {
    await using hook = await startTestWebhook(({ body }) => reply(body))
    const expected = `conversion webhook for test.dev/v1, Kind=Boat ${why}`
    await assert.rejects(
      convert(hook, [boat('a')]),
      ({ message, code }) => code === 500 && message.startsWith(expected),
      name,
    )
  }
})
