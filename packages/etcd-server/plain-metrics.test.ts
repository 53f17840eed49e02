import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { openEtcdServer } from './etcd-server.ts'

test('metrics count the bytes that the store has written', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-metrics-'))
  const deps = { clock: systemClock, log: silentLogger, random: systemRandom }
  try {
    const options = { path: join(directory, 'etcd.db'), name: 'test', clientUrls: [] }
    await using server = await openEtcdServer(options, deps)
    await server.engine.transact({ bytes: 0 }, (transaction) =>
      transaction.put(Buffer.from('k'), { value: Buffer.from('v'), lease: 0n }),
    )
    assert.ok(server.engine.counters.bytesWritten > 4_096)
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    assert.match(text, /^skerry_store_writes_total 1$/m)
    assert.match(text, /^skerry_store_bytes_written_total \d{4,}$/m)
  } finally {
    await rm(directory, { recursive: true })
  }
})
