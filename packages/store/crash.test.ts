import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { seededRandom, silentLogger, systemClock } from '@skerry/base'
import { openSqliteStore } from './sqlite-store.ts'

const seed = 20_261
const lives = 4
const writer = join(import.meta.dirname, 'testing/crash-writer.ts')

for (const mode of ['durable', 'relaxed']) {
  test(`a killed process loses no acknowledged write (seed ${seed}, ${mode})`, () =>
    killAndLook(mode))
}

async function killAndLook(mode: string): Promise<void> {
  const random = seededRandom(seed)
  const directory = await mkdtemp(join(tmpdir(), 'store-crash-'))
  const path = join(directory, 'state.db')
  const acknowledged = new Map<string, number>()
  try {
    for (let life = 0; life < lives; life += 1) {
      const args = [writer, path, String(life), mode]
      const acks = await writeUntilKilled(args, 1 + random.next() * 1_500)
      assert.ok(acks.length > 0)
      for (const [key, revision] of acks) acknowledged.set(key, revision)
      await assertKept(path, acknowledged)
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Kills after a number of acknowledgements: a point in the work, not in time. */
async function writeUntilKilled(args: string[], acks: number): Promise<[string, number][]> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let output = ''
  let lines = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    lines += chunk.split('\n').length - 1
    if (lines >= acks) child.kill('SIGKILL')
  })
  await exited
  const whole = output.slice(0, output.lastIndexOf('\n')).split('\n')
  return whole.map((line) => {
    const [key = '', revision = ''] = line.split(' ')
    return [key, Number(revision)]
  })
}

async function assertKept(path: string, acknowledged: Map<string, number>): Promise<void> {
  await using store = await openSqliteStore(path, {}, { clock: systemClock, log: silentLogger })
  const { entries, revision } = await store.list({ prefix: '/crash/' })
  const kept = new Map(entries.map((entry) => [entry.key, entry.modRevision]))
  const newest = Math.max(...acknowledged.values())
  assert.ok(revision >= newest, `the newest revision is ${revision}, ${newest} was acknowledged`)
  for (const [key, at] of acknowledged) {
    if (isDeletedByWriter(key)) continue
    assert.equal(kept.get(key), at, `${key} was acknowledged at revision ${at}`)
  }
}

function isDeletedByWriter(key: string): boolean {
  return Number(key.split('/').at(-1)) % 50 === 39
}
