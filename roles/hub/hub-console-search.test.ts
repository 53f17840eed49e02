import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { untilAudited } from '../../testing/scenes/audited-lines.ts'
import { openTestBrowser, type TestBrowser } from '../../testing/scenes/test-browser.ts'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
} from '../../testing/scenes/test-fleet.ts'

const olga = { commonName: 'olga', organizations: ['system:masters'] }
const path = '/hub/v1/search'

interface Line {
  /** The last line has none. */
  readonly cluster?: string
  readonly end?: { readonly clusters: number; readonly asked: number; readonly isCut: boolean }
  readonly items?: readonly { readonly kind: string; readonly name: string }[]
  readonly error?: string
}

async function search(browser: TestBrowser, text: string): Promise<Map<string, Line>> {
  const answer = await browser.open({ path: `${path}?${text}` })
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const told = Buffer.concat(chunks).toString()
  assert.equal(answer.statusCode, 200, told)
  const lines = told.split('\n').filter((line) => line !== '')
  return new Map(
    lines.map((line) => {
      // The hub writes lines of this type.
      const found = JSON.parse(line) as Line
      return [found.cluster ?? 'end', found]
    }),
  )
}

/** An API that never answers one question. */
async function startSilentApi(): Promise<{ server: string } & AsyncDisposable> {
  const silent = createServer(({ url }, response) => {
    if (url?.startsWith('/api/v1/configmaps') !== true) response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const address = silent.address()
  assert.ok(address !== null && typeof address === 'object')
  return {
    server: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      silent.closeAllConnections()
      silent.close()
    },
  }
}

test('a search finds objects in all clusters with the rights of its user, and names those that did not answer', async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge()
  await using silent = await startSilentApi()
  for (const name of ['shop-7', 'silent', 'away']) await registerCluster(fleet, name)
  await using agent = await startTestAgent(fleet, { name: 'shop-7', api: edge.api })
  await agent.connected()
  await using other = await startTestAgent(fleet, {
    name: 'silent',
    api: { server: silent.server },
  })
  await other.connected()
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const maps = '/clusters/shop-7/api/v1/namespaces/default/configmaps'
  for (const name of ['web-menu', 'web-till', 'other']) {
    const json = { metadata: { name, labels: { app: name } } }
    assert.equal((await admin.ask({ method: 'POST', path: maps, json })).status, 201)
  }
  const found = await search(admin, 'q=WEB-&kinds=v1/configmaps')
  const namesOf = (line: Line | undefined) => line?.items?.map(({ kind, name }) => [kind, name])
  assert.deepEqual(namesOf(found.get('shop-7')), [
    ['v1/configmaps', 'web-menu'],
    ['v1/configmaps', 'web-till'],
  ])
  assert.match(found.get('silent')?.error ?? '', /did not answer within 3 s/)
  assert.match(found.get('away')?.error ?? '', /away/)
  const byLabel = await search(admin, 'q=app%3Dother&kinds=v1/configmaps,v1/secrets')
  assert.deepEqual(namesOf(byLabel.get('shop-7')), [['v1/configmaps', 'other']])
  const one = await search(admin, 'q=web&kinds=v1/configmaps&limit=1')
  assert.equal(one.get('shop-7')?.items?.length, 1)
  assert.deepEqual(one.get('end')?.end, { clusters: 3, asked: 3, isCut: true })
  assert.equal(found.get('end')?.end?.isCut, false)
  const isMine = ({ uri }: { readonly uri: string }): boolean =>
    uri.startsWith('/clusters/shop-7/api/v1/configmaps?limit=')
  const [line] = await untilAudited(
    fleet,
    { count: 1, isWanted: isMine },
    AbortSignal.timeout(20_000),
  )
  assert.equal(line?.user, 'olga')
  const rita = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'rita' }))
  const hers = await search(rita, 'q=web&kinds=v1/configmaps')
  assert.deepEqual([...hers], [['end', { end: { clusters: 0, asked: 0, isCut: false } }]])
  assert.equal((await openTestBrowser(fleet).ask({ path: `${path}?q=web` })).status, 403)
  for (const text of [
    '',
    'q=a',
    `q=${'x'.repeat(300)}`,
    'q=web&kinds=../../secrets',
    'q=web&kinds=v1/pods/a/log',
    'q=web&kinds=v1/pods%3Fwatch=1',
    `q=web&kinds=${Array.from({ length: 9 }, (_, at) => `v1/k${at}x`).join(',')}`,
    'q=web&limit=0',
    'q=web&cluster=shop-7',
  ]) {
    assert.equal((await admin.ask({ path: `${path}?${text}` })).status, 400, text)
  }
  assert.equal((await admin.ask({ method: 'POST', path, json: {} })).status, 405)
})
