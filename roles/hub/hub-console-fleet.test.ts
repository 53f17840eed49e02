import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import { registerCluster, startTestHub } from '../../testing/scenes/test-fleet.ts'

const olga = { commonName: 'olga', organizations: ['system:masters'] }

test('a thousand clusters are 25 kB, compressed', async () => {
  await using large = await startTestHub()
  const labels = (at: number) => ({ region: `region-${at % 10}`, store: `shop-${at}` })
  for (let first = 0; first < 1_000; first += 50) {
    const some = Array.from({ length: 50 }, (_, at) => first + at)
    await Promise.all(some.map((at) => registerCluster(large, `shop-${at}`, labels(at))))
  }
  const browser = openTestBrowser(large, await large.credentialsOf(olga))
  const path = '/hub/v1/fleet?watch=1'
  const answer = await browser.open({ path, headers: { 'accept-encoding': 'gzip' } })
  const chunks: Buffer[] = []
  let lines: string[] = []
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer)
    const all = Buffer.concat(chunks)
    const text = gunzipSync(all, { finishFlush: 2 }).toString()
    lines = text.split('\n')
    if (lines.length > 1) break
  }
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
  const { type, clusters } = JSON.parse(lines[0] ?? '') as { type: string; clusters: unknown[] }
  assert.deepEqual([type, clusters.length], ['snapshot', 1_000])
  assert.ok(bytes <= 25_000, `${bytes} bytes`)
})
