import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { seededRandom } from '@skerry/base'
import { handScript } from './testing/differential/hand-script.ts'
import { RandomScript } from './testing/differential/random-script.ts'
import { runScript, shown, type Script } from './testing/differential/script.ts'
import { openTestServer } from './testing/open-test-server.ts'

interface Recorded {
  readonly etcd: string
  readonly hand: readonly string[]
  readonly random: readonly { seed: number; count: number; lines: readonly string[] }[]
}

/** dev/hack/etcd-answers.ts recorded them; the hashes in them cover the whole history. */
const file = join(import.meta.dirname, 'testdata/answers.json.gz')
const recorded = JSON.parse(gunzipSync(await readFile(file)).toString()) as Recorded

async function assertSame(script: Script, expected: readonly string[]): Promise<void> {
  await using test = await openTestServer()
  const lines = await runScript(test.client, script)
  for (const [at, line] of lines.entries()) {
    if (line === expected[at]) continue
    const asked = shown(script.steps[at] ?? script.watches[at - script.steps.length] ?? {})
    assert.equal(line, expected[at], `step ${at}: ${asked}`)
  }
  assert.equal(lines.length, expected.length)
}

test(`requests written by hand are answered as etcd ${recorded.etcd} answers them`, async () => {
  await assertSame(handScript, recorded.hand)
})

for (const { seed, count, lines } of recorded.random) {
  test(`random requests are answered as etcd answers them (seed ${seed})`, async () => {
    await assertSame(new RandomScript(seededRandom(seed)).make(count), lines)
  })
}
