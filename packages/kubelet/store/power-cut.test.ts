import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { cutPower, errorLogger, type AfterCut } from '@skerry/testing'
import type { KeptObject } from '../testing/power-writer.ts'
import { ObjectDisk } from './object-disk.ts'

const writer = join(import.meta.dirname, '../testing/power-writer.ts')

test('a node whose power is cut at 100 moments knows each object that it kept', async () => {
  const seeds = { first: 1, count: 100 }
  await cutPower({ command: [process.execPath, writer, '{}'], seeds }, assertKept)
})

async function assertKept({ seed, directory, told }: AfterCut): Promise<void> {
  const { log, lines } = errorLogger()
  const changes = told.map((line) => JSON.parse(line) as KeptObject)
  const objects = await new ObjectDisk(join(directory, 'node', 'store'), log).load('pods')
  assert.deepEqual(lines, [], `seed ${seed}: no file is half there`)
  for (const key of new Set(changes.map((change) => change.key))) {
    const own = changes.filter((change) => change.key === key)
    const kept = own.findLastIndex(({ isKept }) => isKept)
    const possible = kept < 0 ? [undefined, ...own] : own.slice(kept)
    const text = objects.get(key)?.metadata.annotations?.['text']
    assert.ok(
      possible.some((change) => change?.text === text),
      `seed ${seed}: ${key} is ${text?.slice(0, 20)}`,
    )
  }
}
