import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { startTestApiServer, type TestApiServer } from '@skerry/testing'

const configMaps = '/api/v1/namespaces/default/configmaps'
const resource = { group: '', resource: 'configmaps' }

async function get(server: TestApiServer, path: string) {
  const request = { method: 'GET', path, headers: {} } as const
  const answer = await server.transport.send(request, new AbortController().signal)
  const parts: Uint8Array[] = []
  for await (const part of answer.body) parts.push(part)
  const value: AnyObject & {
    items?: AnyObject[]
    message?: string
    metadata: { continue?: string; remainingItemCount?: number }
  } = JSON.parse(Buffer.concat(parts).toString())
  const names = (value.items ?? []).map(({ metadata }) => metadata.name ?? '').join('')
  return { status: answer.status, value, names }
}

async function withObjects(names: string): Promise<TestApiServer> {
  const server = await startTestApiServer({ namespaces: ['default'] })
  for (const name of names) {
    const metadata = { name, namespace: 'default' }
    await server.objects.create(resource, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  }
  return server
}

test('pages show the list as it was while that exists; then the rest can be read as it is', async () => {
  await using server = await withObjects('abcd')
  const first = await get(server, `${configMaps}?limit=2`)
  assert.equal(first.names, 'ab')
  assert.equal(first.value.metadata.remainingItemCount, 2)
  await server.objects.delete(resource, 'default', 'c')
  const next = `${configMaps}?limit=2&continue=${first.value.metadata.continue ?? ''}`
  assert.equal((await get(server, next)).names, 'cd')
  await server.store.compact(await server.store.revision())
  const gone = await get(server, next)
  assert.equal(gone.status, 410)
  assert.match(gone.value.message ?? '', /^The provided continue parameter is too old/)
  const rest = `${configMaps}?limit=2&continue=${gone.value.metadata.continue ?? ''}`
  assert.equal((await get(server, rest)).names, 'd')
  const exact = await get(server, `${configMaps}?resourceVersion=1&resourceVersionMatch=Exact`)
  assert.deepEqual(
    [exact.status, exact.value.message],
    [410, 'The resourceVersion for the provided list is too old.'],
  )
})

test('requests that upstream does not serve or read are refused in its words', async () => {
  await using server = await withObjects('a')
  const table: readonly [string, number, RegExp][] = [
    [`${configMaps}/..`, 400, /^Name parameter invalid: "\.\.": may not be '\.\.'$/],
    [`${configMaps}/a%2fb`, 404, /^the server could not find the requested resource$/],
    [`${configMaps}?timeoutSeconds=x`, 400, /parsing "x": invalid syntax$/],
    [`${configMaps}?limit=9999999999999999999999`, 400, /value out of range$/],
    [`${configMaps}?watch=1&resourceVersion=x`, 500, /^resourceVersion: Invalid value: "x"/],
    [`${configMaps}?watch=1&continue=x`, 422, /forbidden when continue is provided$/],
  ]
  for (const [path, status, message] of table) {
    const answer = await get(server, path)
    assert.equal(answer.status, status, path)
    assert.match(answer.value.message ?? '', message)
  }
  const watchOfOne = await get(server, `${configMaps}/a?watch=1`)
  assert.equal(watchOfOne.value.kind, 'ConfigMap')
})
