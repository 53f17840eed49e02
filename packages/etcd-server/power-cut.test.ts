import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { seededRandom, simulatedClock } from '@skerry/base'
import { cutPower, errorLogger, type AfterCut } from '@skerry/testing'
import { openEtcdEngine } from './engine/etcd-engine.ts'
import type { PowerPut } from './testing/power-writer.ts'

const writer = join(import.meta.dirname, 'testing/power-writer.ts')
const clock = simulatedClock()

test('an etcd server whose power is cut at 250 moments has each acknowledged change, whole', async () => {
  const seeds = { first: 1, count: 250 }
  await cutPower({ command: [process.execPath, writer, '{}'], seeds }, assertKept)
})

async function assertKept({ seed, directory, told }: AfterCut): Promise<void> {
  const { log, lines } = errorLogger()
  const puts = told.map((line) => JSON.parse(line) as PowerPut)
  const path = join(directory, 'data/etcd/etcd.db')
  const deps = { clock, log, random: seededRandom(seed) }
  await using engine = await openEtcdEngine(path, { quotaBytes: 1e9, hasReserve: false }, deps)
  assert.deepEqual(lines, [], `seed ${seed}`)
  for (const group of [0, 1, 2]) {
    const own = puts.filter((put) => put.group === group)
    const found = [0, 1, 2].map((each) => {
      const head = engine.log.head(Buffer.from(`${group}/${each}`), engine.revision)
      return head && `${head.kv.modRevision} ${Buffer.from(head.kv.value).toString()}`
    })
    assert.equal(new Set(found).size, 1, `seed ${seed}: group ${group} is half there`)
    const acknowledged = own.findLast(({ revision }) => revision > 0)
    const last = own.at(-1)
    const possible = last?.revision === 0 ? [acknowledged, last] : [acknowledged]
    const isPossible = possible.some((put) => {
      if (put?.text === undefined) return found[0] === undefined
      const [revision, ...text] = found[0]?.split(' ') ?? []
      const isRevision = put.revision === 0 || put.revision === Number(revision)
      return isRevision && text.join(' ') === put.text
    })
    const shown = `${found[0]?.slice(0, 30)}, acknowledged at ${acknowledged?.revision}`
    assert.ok(isPossible, `seed ${seed}: group ${group} is ${shown}`)
  }
  const seen = Math.max(1, ...puts.map(({ revision }) => revision))
  assert.ok(engine.revision >= seen, `seed ${seed}: revision ${engine.revision} of ${seen}`)
}
