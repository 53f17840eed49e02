import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  ExpectedError,
  exitCodes,
  seededRandom,
  silentLogger,
  simulatedClock,
  type Logger,
} from '@skerry/base'
import { openStoreFile, sqliteFault } from '@skerry/store'
import { DamagedValueError } from './engine/engine-errors.ts'
import { engineSchema } from './engine/engine-schema.ts'
import { openEtcdEngine } from './engine/etcd-engine.ts'

const keys = Array.from({ length: 60 }, (_, index) => `k/${String(index).padStart(2, '0')}`)
const textOf = (key: string): string => `value of ${key} ${'.'.repeat(300)}`
const options = { quotaBytes: 1e9, hasReserve: false }

test('bytes flipped at random are refused in one line or named at the start, and never served', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'damaged-etcd-'))
  const path = join(directory, 'etcd.db')
  const lines: string[] = []
  const log: Logger = {
    ...silentLogger,
    error: (message) => void lines.push(message),
    child: () => log,
  }
  const deps = { clock: simulatedClock(), log, random: seededRandom(1) }
  try {
    {
      await using engine = await openEtcdEngine(path, options, deps)
      for (const key of keys) {
        await engine.transact({ bytes: 0 }, (transaction) =>
          transaction.put(Buffer.from(key), { value: Buffer.from(textOf(key)), lease: 0n }),
        )
      }
    }
    const whole = await readFile(path)
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = seededRandom(seed)
      const bytes = Buffer.from(whole)
      for (let flips = 0; flips < 1 + (seed % 4); flips += 1) {
        const at = Math.floor(random.next() * bytes.length)
        bytes[at] = (bytes[at] ?? 0) ^ (1 + Math.floor(random.next() * 255))
      }
      await writeFile(path, bytes)
      lines.length = 0
      await serveOrRefuse(seed)
      for (const end of ['-wal', '-shm']) await rm(`${path}${end}`, { force: true })
    }
  } finally {
    await rm(directory, { recursive: true })
  }

  async function serveOrRefuse(seed: number): Promise<void> {
    try {
      await using engine = await openEtcdEngine(path, options, deps)
      const isNamed = lines.includes('Stored value is damaged')
      for (const key of keys) {
        try {
          const head = engine.log.head(Buffer.from(key), engine.revision)
          const text = Buffer.from(head?.kv.value ?? '').toString()
          assert.equal(text, textOf(key), `seed ${seed}`)
        } catch (error) {
          if (!(error instanceof DamagedValueError)) throw error
          assert.ok(isNamed, `seed ${seed}: ${key} was not named at the start`)
        }
      }
    } catch (error) {
      if (sqliteFault(error) === 'corrupt') return
      if (!(error instanceof ExpectedError)) throw error
      assert.equal(error.exitCode, exitCodes.dataDirectory, `seed ${seed}`)
      assert.ok(error.message.includes(path), `seed ${seed}: ${error.message}`)
    }
  }
})

test('a store of a server before checksums of its marks is migrated, and keeps its data', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'older-etcd-'))
  const path = join(directory, 'etcd.db')
  const deps = { clock: simulatedClock(), log: silentLogger, random: seededRandom(1) }
  const key = Buffer.from('k')
  try {
    {
      await using engine = await openEtcdEngine(path, options, deps)
      await engine.transact({ bytes: 0 }, (transaction) =>
        transaction.put(key, { value: Buffer.from('v'), lease: 0n }),
      )
    }
    {
      const file = { schema: engineSchema, check: 'never', walPagesMax: 100 } as const
      using database = await openStoreFile(path, file, silentLogger)
      database.exec('DROP TABLE auth_user; DROP TABLE auth_role')
      database.exec("DELETE FROM meta WHERE name IN ('sum', 'authEnabled', 'authRevision')")
      database.exec('PRAGMA user_version = 1')
    }
    for (const _life of [1, 2]) {
      await using engine = await openEtcdEngine(path, options, deps)
      assert.equal(engine.revision, 2)
      assert.equal(Buffer.from(engine.log.head(key, 2)?.kv.value ?? '').toString(), 'v')
    }
  } finally {
    await rm(directory, { recursive: true })
  }
})
