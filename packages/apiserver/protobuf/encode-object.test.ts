import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeProtobuf } from './decode-object.ts'
import { loadMessages, messageName } from './message-table.ts'
import { protobufFrames, protobufList, protobufValue } from './protobuf-answer.ts'

interface Recorded {
  readonly name: string
  readonly value: Record<string, unknown> & { apiVersion: string; kind: string }
  readonly protobuf: string
}

/** What upstream 1.36.3 answered for the same object, once as JSON and once as protobuf. */
async function readRecorded(): Promise<readonly Recorded[]> {
  const path = join(import.meta.dirname, 'testdata/recorded.json')
  const parsed: readonly Recorded[] = JSON.parse(await readFile(path, 'utf8'))
  return parsed
}

test('an object is the bytes that upstream answers for it', async () => {
  for (const { name, value, protobuf } of await readRecorded()) {
    const own = Buffer.from((await protobufValue(value)) ?? [])
    assert.equal(own.toString('base64'), protobuf, name)
  }
})

test('what was written reads as the same object', async () => {
  const messages = await loadMessages()
  for (const { name, value, protobuf } of await readRecorded()) {
    const message = messageName(messages, value) ?? ''
    const back = await decodeProtobuf(Buffer.from(protobuf, 'base64'), message)
    assert.deepEqual(await protobufValue(back), await protobufValue(value), name)
  }
})

test('a list is its items, written in pieces', async () => {
  const configMap = (name: string) => ({ metadata: { name, uid: 'u'.repeat(300) } })
  const items = [configMap('a'), configMap('b'), configMap('c')]
  const type = { apiVersion: 'v1', kind: 'ConfigMapList' }
  const metadata = { resourceVersion: '7', continue: 'x', remainingItemCount: 0 }
  const at = (index: number) => items[index] ?? {}
  const pieces = [
    ...(await protobufList({ type, metadata, items: { count: 3, at }, chunkBytes: 256 })),
  ]
  assert.ok(pieces.length > 2)
  assert.deepEqual(
    Buffer.concat(pieces),
    Buffer.from((await protobufValue({ ...type, metadata, items })) ?? []),
  )
})

test('an event of a watch has its length before it', async () => {
  const frame = await protobufFrames()
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  const bytes = Buffer.from(frame('ADDED', object))
  assert.equal(bytes.readUInt32BE(0), bytes.length - 4)
  const whole = Buffer.from((await protobufValue(object)) ?? [])
  assert.deepEqual(bytes.subarray(-whole.length), whole)
  assert.equal(bytes.subarray(4, 11).toString(), '\n\u0005ADDED')
})

test('what has no protobuf form is left to JSON', async () => {
  assert.equal(await protobufValue({ major: '1' }), undefined)
  assert.equal(await protobufValue({ apiVersion: 'example.com/v1', kind: 'Pod' }), undefined)
})
