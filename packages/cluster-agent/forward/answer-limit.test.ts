import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { readBody } from '@skerry/client'
import { isBoundedInTime } from './answer-limit.ts'
import { createApiForwarder } from './api-forwarder.ts'
import { apiForwarderDefaults } from '../limits-table.ts'

test('an API server that accepts a request and stays silent is reported as such', async () => {
  const clock = simulatedClock()
  const asked = Promise.withResolvers<void>()
  const server = createServer(() => asked.resolve())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  const api = { server: `http://127.0.0.1:${port}` }
  using forwarder = createApiForwarder({ api }, { clock, log: silentLogger })
  const headers = { 'impersonate-user': 'olga' }
  const request = { method: 'GET', path: '/api/v1/pods', headers }
  const answering = forwarder.onRequest(request, new AbortController().signal)
  await asked.promise
  await clock.advance(apiForwarderDefaults.answerMs)
  const answer = await answering
  const { reason, message } = JSON.parse(String(await readBody(answer.body)))
  assert.deepEqual([answer.status, reason], [504, 'Timeout'])
  assert.match(message, /agent is connected, but its API server has not answered in 65 s/)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const paths: readonly [path: string, isBounded: boolean][] = [
  ['/api/v1/pods', true],
  ['/api/v1/namespaces/watch/pods?limit=5', true],
  ['/api/v1/namespaces/a/pods?watch=1', false],
  ['/api/v1/pods?resourceVersion=5&watch=true', false],
  ['/api/v1/watch/pods', false],
  ['/api/v1/namespaces/a/pods/b/log?follow=true', false],
  ['/api/v1/namespaces/a/pods/b/log', false],
  ['/api/v1/namespaces/a/services/b:80/proxy/report', false],
  ['/api/v1/nodes/a/proxy', false],
  ['/api/v1/namespaces/a/pods/b/exec?command=ls', false],
  ['/apis/apps/v1/namespaces/a/deployments/catalog', true],
]
for (const [path, isBounded] of paths) {
  test(`${path} is ${isBounded ? 'bounded in time' : 'as long as its asker likes'}`, () => {
    assert.equal(isBoundedInTime(path), isBounded)
  })
}
