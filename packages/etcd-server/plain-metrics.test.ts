import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { openEtcdServer } from './etcd-server.ts'

test('metrics are served over HTTP/1.1, and nothing else is', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-metrics-'))
  const deps = { clock: systemClock, log: silentLogger, random: systemRandom }
  try {
    const options = { path: join(directory, 'etcd.db'), name: 'test', clientUrls: [] }
    const metrics = async (): Promise<string> => `written ${server.engine.counters.writes}\n`
    await using server = await openEtcdServer({ ...options, metrics }, deps)
    await server.engine.transact({ bytes: 0 }, (transaction) =>
      transaction.put(Buffer.from('k'), { value: Buffer.from('v'), lease: 0n }),
    )
    assert.ok(server.engine.counters.bytesWritten > 4_096)
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const ask = async (path: string, method = 'GET') => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method })
      return [answer.status, await answer.text()]
    }
    assert.deepEqual(await ask('/metrics?x=1'), [200, 'written 1\n'])
    const gone = [404, '404 page not found\n']
    assert.deepEqual(await ask('/metrics', 'POST'), gone)
    assert.deepEqual(await ask('/v2/keys'), gone)
  } finally {
    await rm(directory, { recursive: true })
  }
})
