import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '@skerry/base'
import { startTestApiServer, type TestApiServer } from '@skerry/testing'

const path = '/api/v1/namespaces/default/configmaps'
const chunkBytes = 4_096
let long: TestApiServer
let whole: TestApiServer

before(async () => {
  long = await startTestApiServer({ limits: { chunkBytes } })
  whole = await startTestApiServer()
  for (const { objects } of [long, whole]) {
    for (let count = 0; count < 20; count += 1) {
      const metadata = { name: `m${count}`, namespace: 'default', uid: '1' }
      const data = { a: 'line\n"quoted"\n'.repeat(100) }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
      await objects.create({ group: '', resource: 'configmaps' }, object)
    }
  }
})
after(async () => {
  await long[Symbol.asyncDispose]()
  await whole[Symbol.asyncDispose]()
})

async function listed({ transport }: TestApiServer, accept: string, query: string) {
  const request = { method: 'GET' as const, path: `${path}${query}`, headers: { accept } }
  const answer = await transport.send(request, AbortSignal.timeout(20_000))
  assert.equal(answer.status, 200)
  const pieces: string[] = []
  for await (const piece of answer.body) pieces.push(Buffer.from(piece).toString())
  return pieces
}

/** Removes the parts that necessarily differ between two servers. */
function comparable(text: string): string {
  return text
    .replaceAll(/"(uid|creationTimestamp|time)": ?"[^"]*"/g, '"$1":""')
    .replaceAll(/"resourceVersion": ?"[0-9]+"/g, '"resourceVersion":""')
    .replaceAll(/"[0-9]+[ms]+[0-9]*s?"/g, '"age"')
}

const group = 'v=v1;g=meta.k8s.io'
const shapes: Readonly<Record<string, readonly [string, string]>> = {
  'a Table': [`application/json;as=Table;${group}`, ''],
  'a Table with objects': [`application/json;as=Table;${group}`, '?includeObject=Object'],
  metadata: [`application/json;as=PartialObjectMetadataList;${group}`, ''],
  'indented JSON': ['application/json', '?pretty=true'],
}

for (const [name, [accept, query]] of Object.entries(shapes)) {
  test(`a long list as ${name} is the same text, made piece by piece as it is read`, async () => {
    const pieces = await listed(long, accept, query)
    assert.ok(pieces.length > 1, `${pieces.length} pieces`)
    const [expected = ''] = await listed(whole, accept, query)
    assert.equal(comparable(pieces.join('')), comparable(expected))
  })
}

test('a long list in YAML is YAML, and takes no longer than JSON', async () => {
  const pieces = await listed(long, 'application/yaml', '')
  assert.ok(pieces.length > 1, `${pieces.length} pieces`)
  const list: { items: unknown[] } = JSON.parse(pieces.join(''))
  assert.equal(list.items.length, 20)
})

test('a list by selectors gives way to other work between its objects', async () => {
  let ms = 0
  const clock = { ...systemClock, monotonicMs: () => (ms += 1) }
  await using slow = await startTestApiServer({ clock })
  const soon = (): AbortSignal => AbortSignal.timeout(120_000)
  const asJson = { 'content-type': 'application/json' }
  for (let at = 0; at < 300; at += 1) {
    const body = Buffer.from(JSON.stringify({ metadata: { name: `a${at}` } }))
    await slow.transport.send({ method: 'POST', path, headers: asJson, body }, soon())
  }
  for (const query of ['labelSelector=!a', 'labelSelector=!a&limit=299']) {
    let turns = 0
    let isOver = false
    const turn = (): void => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const answer = await slow.transport.send(
      { method: 'GET', path: `${path}?${query}`, headers: {} },
      soon(),
    )
    isOver = true
    assert.equal(answer.status, 200)
    for await (const piece of answer.body) assert.ok(piece.length > 0)
    assert.ok(turns > 100, `${turns} turns of the event loop`)
  }
})
