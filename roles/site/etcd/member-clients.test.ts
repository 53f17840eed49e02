import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { until } from '@skerry/testing'
import { MemberClients } from './member-clients.ts'

test('a member that takes connections and answers nothing is silent, and keeps no connection', async () => {
  const pki = await mkdtemp(join(tmpdir(), 'skerry-members-'))
  const closed: Promise<unknown>[] = []
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined)
    closed.push(once(socket.resume(), 'close'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server on a port has an address with it.
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const { signal } = new AbortController()
    const clock = simulatedClock()
    {
      using clients = await MemberClients.open(pki, clock)
      const status = clients.statusOf(url, signal)
      await until(() => closed.length === 1)
      await clock.advance(3_000)
      assert.equal(await status, undefined)
      const asking = clients.first([url], (each) => each.members(signal), signal)
      const refused = assert.rejects(asking, /takes connections and answers nothing/)
      await until(() => closed.length === 2)
      await clock.advance(3_000)
      await refused
    }
    await Promise.all(closed)
  } finally {
    server.close()
    await rm(pki, { recursive: true })
  }
})
