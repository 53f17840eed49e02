import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDataDirectory } from '../../roles/runtime/data-directory.ts'
import { cutPower, type AfterCut } from './cut-power.ts'

const writer = join(import.meta.dirname, 'file-writer.ts')

test('a role whose power is cut at 100 moments opens its directory and has its files whole', async () => {
  const seeds = { first: 1, count: 100 }
  await cutPower({ command: [process.execPath, writer, '{}'], seeds }, assertKept)
})

async function assertKept({ seed, directory, told }: AfterCut): Promise<void> {
  const last = new Map(
    told.map((line) => {
      const [path = '', count] = line.split(' ')
      return [path, Number(count)]
    }),
  )
  for (const [path, count] of last) {
    const text = await readFile(join(directory, path), 'utf8')
    if (count === 0) continue
    assert.match(text, /^\d+ v*\.$/, `seed ${seed}: ${path} is half there`)
    const found = Number.parseInt(text, 10)
    assert.ok(found >= count, `seed ${seed}: ${path} is number ${found}, and ${count} was kept`)
  }
  await openDataDirectory(join(directory, 'skerry', 'site'))
}
