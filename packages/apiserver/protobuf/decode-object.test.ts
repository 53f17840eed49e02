import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { decodeProtobuf } from './decode-object.ts'

/** Encodes just enough protobuf to write bodies like a client's. */
function field(number: number, value: string | number | readonly Uint8Array[]): Uint8Array {
  if (typeof value === 'number') return Uint8Array.from([number << 3, value])
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.concat(value)
  return Buffer.concat([Uint8Array.from([(number << 3) | 2, bytes.length]), bytes])
}

function body(apiVersion: string, kind: string, raw: readonly Uint8Array[]): Uint8Array {
  const typeMeta = field(1, [field(1, apiVersion), field(2, kind)])
  return Buffer.concat([Buffer.from('k8s\0'), typeMeta, field(2, raw)])
}

test('a protobuf body is the JSON object it stands for', async () => {
  const metadata = field(1, [
    field(1, 'a'),
    field(3, ''),
    field(8, []),
    field(11, [field(1, 'x'), field(2, 'y')]),
  ])
  const bytes = body('v1', 'ConfigMap', [metadata, field(2, [field(1, 'k'), field(2, 'v')])])
  assert.deepEqual(await decodeProtobuf(bytes, 'io.k8s.api.core.v1.ConfigMap'), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', creationTimestamp: null, labels: { x: 'y' } },
    data: { k: 'v' },
  })
})

test('zero is kept where it means something, and embedded fields stand in their parent', async () => {
  const source = field(2, [field(2, [field(1, 'Memory'), field(2, [field(1, '1Gi')])])])
  const volume = field(1, [field(1, 'v'), source])
  const spec = field(2, [volume, field(4, 0), field(11, 0), field(6, '')])
  const bytes = body('v1', 'Pod', [spec])
  assert.deepEqual(await decodeProtobuf(bytes, 'io.k8s.api.core.v1.Pod'), {
    apiVersion: 'v1',
    kind: 'Pod',
    spec: {
      volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }],
      terminationGracePeriodSeconds: 0,
    },
  })
})

test('any other body is refused, wherever it breaks', async () => {
  const good = body('v1', 'ConfigMap', [field(2, [field(1, 'k'), field(2, 'v')])])
  const schemaName = 'io.k8s.api.core.v1.ConfigMap'
  const refused = (error: unknown) => isStatusError(error, 'BadRequest')
  await assert.rejects(decodeProtobuf(Buffer.from('{}'), schemaName), refused)
  const head = body('v1', 'ConfigMap', []).length - 2
  for (let length = good.length - 1; length > head; length -= 1) {
    await assert.rejects(decodeProtobuf(good.subarray(0, length), schemaName), refused, `${length}`)
  }
  const nested = body('v1', 'ConfigMap', [Uint8Array.from([0x0f])])
  await assert.rejects(decodeProtobuf(nested, schemaName), refused)
})
