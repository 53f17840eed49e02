import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { EtcdClient } from './testing/etcd-client.ts'
import { openTestServer } from './testing/open-test-server.ts'

const seed = 20_262
const lives = 4
const writers = 8
const program = join(import.meta.dirname, 'testing/crash-server.ts')

test(`a killed server loses no put that it acknowledged (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  const directory = await mkdtemp(join(tmpdir(), 'etcd-crash-'))
  const path = join(directory, 'etcd.db')
  const acknowledged = new Map<string, number>()
  try {
    for (let life = 0; life < lives; life += 1) {
      await putUntilKilled(path, 20 + random.next() * 800, (key, revision) =>
        acknowledged.set(`${life}/${key}`, revision),
      )
    }
    await using reopened = await openTestServer({ path })
    const { kvs } = await reopened.client.call('Range', {
      key: Buffer.from('\0'),
      rangeEnd: Buffer.from('\0'),
    })
    const kept = new Map(kvs.map((kv) => [Buffer.from(kv.value).toString(), kv.modRevision]))
    assert.ok(acknowledged.size > lives * writers)
    for (const [value, revision] of acknowledged) assert.equal(kept.get(value), revision, value)
  } finally {
    await rm(directory, { recursive: true })
  }

  async function putUntilKilled(
    store: string,
    puts: number,
    onAcknowledged: (key: string, revision: number) => void,
  ): Promise<void> {
    const stdio = ['ignore', 'pipe', 'inherit'] as const
    const child = spawn(process.execPath, [program, store], { stdio: [...stdio] })
    const [line] = await once(child.stdout, 'data')
    using client = new EtcdClient(`http://127.0.0.1:${Number(String(line))}`)
    let count = 0
    const life = [...acknowledged.keys()].length === 0 ? 0 : lifeOf(acknowledged) + 1
    const put = async (writer: number): Promise<void> => {
      for (let at = 0; ; at += 1) {
        const key = `${writer}/${at}`
        const request = { key: Buffer.from(`${life}/${key}`), value: Buffer.from(`${life}/${key}`) }
        const answer = await client.call('Put', request).catch(() => undefined)
        if (answer === undefined) return
        onAcknowledged(key, answer.header?.revision ?? 0)
        count += 1
        if (count >= puts) child.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: writers }, (_, writer) => put(writer)))
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
})

function lifeOf(acknowledged: ReadonlyMap<string, number>): number {
  return Math.max(...[...acknowledged.keys()].map((key) => Number(key.split('/')[0])))
}
