import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { gunzipSync } from 'node:zlib'
import { builtinKinds } from '@skerry/kinds'
import { decodeProtobuf } from './decode-object.ts'
import { loadMessages, messageName } from './message-table.ts'
import { protobufFrames, protobufList, protobufValue } from './protobuf-answer.ts'

interface Recorded {
  readonly name: string
  readonly value: Record<string, unknown> & { apiVersion: string; kind: string }
  readonly protobuf: string
}

/** Reads upstream 1.36.3's answers for the same objects, each as JSON and as protobuf. */
async function readRecorded(): Promise<readonly Recorded[]> {
  const path = join(import.meta.dirname, 'testdata/recorded.json')
  const parsed: readonly Recorded[] = JSON.parse(await readFile(path, 'utf8'))
  return parsed
}

test('an object is encoded into the bytes that upstream answers for it', async () => {
  for (const { name, value, protobuf } of await readRecorded()) {
    const own = Buffer.from((await protobufValue(value)) ?? [])
    assert.equal(own.toString('base64'), protobuf, name)
  }
})

test('an encoded object reads back as the same object', async () => {
  const messages = await loadMessages()
  for (const { name, value, protobuf } of await readRecorded()) {
    const message = messageName(messages, value) ?? ''
    const back = await decodeProtobuf(Buffer.from(protobuf, 'base64'), message)
    assert.deepEqual(await protobufValue(back), await protobufValue(value), name)
  }
})

interface EveryField {
  readonly value: Record<string, unknown> & { apiVersion: string; kind: string }
  /** The hash of upstream's bytes, in hexadecimal. */
  readonly sha256: string
}

async function readEveryField(): Promise<readonly EveryField[]> {
  const path = join(import.meta.dirname, 'testdata/every-field.json.gz')
  const parsed: readonly EveryField[] = JSON.parse(gunzipSync(await readFile(path)).toString())
  return parsed
}

test('an object of every kind with every field set is upstream’s bytes, and reads back as it was', async () => {
  const messages = await loadMessages()
  for (const { value, sha256 } of await readEveryField()) {
    const name = `${value.kind} of ${value.apiVersion}`
    const own = Buffer.from((await protobufValue(value)) ?? [])
    assert.equal(createHash('sha256').update(own).digest('hex'), sha256, name)
    assert.deepEqual(await decodeProtobuf(own, messageName(messages, value) ?? ''), value, name)
  }
})

test('there is an object of every built-in kind among them', async () => {
  const known = new Set(
    [...(await readRecorded()), ...(await readEveryField())].map(
      ({ value }) => `${value.kind} of ${value.apiVersion}`,
    ),
  )
  const missing = (await builtinKinds({ includeBeta: true }))
    .map(({ group, version, kind }) => `${kind} of ${group === '' ? '' : `${group}/`}${version}`)
    .filter((name) => !known.has(name))
  assert.deepEqual(missing, [])
})

test('a list is its items, written in pieces', async () => {
  const configMap = (name: string) => ({ metadata: { name, uid: 'u'.repeat(300) } })
  const items = [configMap('a'), configMap('b'), configMap('c')]
  const type = { apiVersion: 'v1', kind: 'ConfigMapList' }
  const metadata = { resourceVersion: '7', continue: 'x', remainingItemCount: 0 }
  const at = (index: number) => items[index] ?? {}
  const clock = simulatedClock()
  const pieces = [
    ...(await protobufList({ type, metadata, items: { count: 3, at }, chunkBytes: 256, clock })),
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

test('an object without a protobuf form is left to JSON', async () => {
  assert.equal(await protobufValue({ major: '1' }), undefined)
  assert.equal(await protobufValue({ apiVersion: 'example.com/v1', kind: 'Pod' }), undefined)
})
