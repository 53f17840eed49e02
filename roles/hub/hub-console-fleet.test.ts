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

test('an explanation of an object needs the right to read it', async () => {
  await using fleet = await startTestHub()
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const maps = '/api/v1/namespaces/default/configmaps'
  await admin.ask({ method: 'POST', path: maps, json: { metadata: { name: 'web' } } })
  const path = '/hub/v1/explain?kind=configmap&name=web'
  const told = await admin.ask({ path })
  assert.equal(told.status, 200, told.text)
  assert.deepEqual(told.body['object'], {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'default',
    name: 'web',
  })
  assert.equal((await admin.ask({ path: '/hub/v1/explain?kind=configmap&name=none' })).status, 404)
  assert.equal((await admin.ask({ path: '/hub/v1/explain?kind=configmap' })).status, 400)
  const rita = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'rita' }))
  assert.equal((await rita.ask({ path })).status, 403)
  assert.equal((await openTestBrowser(fleet).ask({ path })).status, 403)
})
