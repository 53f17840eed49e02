import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptsOpenApiV2Protobuf, encodeOpenApiV2Document } from './open-api-v2-protobuf.ts'

test('the protobuf form is the one that gnostic reads', () => {
  const document = {
    swagger: '2.0',
    paths: { '/a': { get: { tags: ['t'], 'x-kubernetes-action': 'get' } } },
    definitions: { D: { type: 'object', properties: { p: { $ref: '#/definitions/E' } } } },
  }
  const text = (value: string) => [value.length, ...Buffer.from(value)]
  const message = (field: number, content: number[]) => [
    (field << 3) | 2,
    content.length,
    ...content,
  ]
  const extension = [
    0x0a,
    ...text('x-kubernetes-action'),
    ...message(2, [0x12, ...text('"get"\n')]),
  ]
  const operation = [0x0a, ...text('t'), ...message(9, []), ...message(13, extension)]
  const property = [0x0a, ...text('p'), ...message(2, [0x0a, ...text('#/definitions/E')])]
  // Fields from 16 on take two bytes for their tag.
  const type = [0xb2, 1, 8, 0x0a, ...text('object')]
  const fields = message(1, property)
  const schema = [...type, 0xca, 1, fields.length, ...fields]
  assert.deepEqual(Array.from(encodeOpenApiV2Document(document)), [
    0x0a,
    ...text('2.0'),
    ...message(2, []),
    ...message(8, message(2, [0x0a, ...text('/a'), ...message(2, message(2, operation))])),
    ...message(9, message(1, [0x0a, ...text('D'), ...message(2, schema)])),
    ...message(13, []),
  ])
})

test('old and new spellings of the protobuf type are known', () => {
  const type = 'application/com.github.proto-openapi.spec.v2'
  assert.ok(acceptsOpenApiV2Protobuf(`${type}@v1.0+protobuf`))
  assert.ok(acceptsOpenApiV2Protobuf(`${type}.v1.0+protobuf, application/json`))
  assert.ok(!acceptsOpenApiV2Protobuf('application/json'))
})
