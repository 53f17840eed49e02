import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import { startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

let directory: string
let fleet: TestHub
const script = 'console.log(1)'

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-pages-'))
  await mkdir(join(directory, 'assets'))
  await writeFile(join(directory, 'index.html'), '<p data-nonce="__NONCE__">the console</p>')
  await writeFile(join(directory, 'assets/main-AB12.js'), script)
  await writeFile(join(directory, 'assets/main-AB12.js.br'), brotliCompressSync(script))
  fleet = await startTestHub({ consoleDirectory: directory })
})

after(async () => {
  await fleet[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

const navigation = { 'x-skerry-console': undefined, accept: 'text/html,*/*' }

test('a browser that opens the address of a hub gets to the console, and a program to the paths', async () => {
  const browser = openTestBrowser(fleet)
  const { status, headers } = await browser.ask({ path: '/', headers: navigation })
  assert.deepEqual([status, headers.location], [302, '/console/'])
  const asked = { path: '/', headers: { accept: 'application/json' } }
  assert.equal((await browser.ask(asked)).status, 403)
})

test('each page gets a policy with a nonce of its own, and is not kept', async () => {
  const browser = openTestBrowser(fleet)
  const nonces = new Set<string>()
  for (const path of ['/console/', '/console/clusters/shop-7', '/console/clusters/a.b/pods']) {
    const { status, headers, text } = await browser.ask({ path, headers: navigation })
    const nonce = /data-nonce="([\w+/=]{24})"/.exec(text)?.[1] ?? ''
    nonces.add(nonce)
    const policy = String(headers['content-security-policy'])
    assert.equal(status, 200, path)
    assert.ok(policy.includes(`style-src 'self' 'nonce-${nonce}'`), policy)
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      assert.ok(policy.split('; ').includes(part), part)
    }
    assert.deepEqual(
      [headers['cache-control'], headers['x-content-type-options'], headers['referrer-policy']],
      ['no-store', 'nosniff', 'no-referrer'],
    )
  }
  assert.equal(nonces.size, 3)
})

test('assets are compressed as the browser can read them, and kept for ever', async () => {
  const browser = openTestBrowser(fleet)
  const path = '/console/assets/main-AB12.js'
  const plain = await browser.ask({ path, headers: navigation })
  assert.deepEqual([plain.text, plain.headers['content-encoding']], [script, undefined])
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8')
  const none = { ...navigation, 'accept-encoding': 'br;q=0, gzip' }
  assert.equal((await browser.ask({ path, headers: none })).text, script)
  const small = await browser.open({
    path,
    headers: { ...navigation, 'accept-encoding': 'gzip, br' },
  })
  const bytes = Buffer.concat(await small.toArray())
  assert.equal(small.headers['content-encoding'], 'br')
  assert.equal(brotliDecompressSync(bytes).toString(), script)
  const gone = await browser.ask({ path: '/console/assets/main-CD34.js', headers: navigation })
  assert.equal(gone.status, 404)
})

test('no path leads out of the directory of the pages', async () => {
  const browser = openTestBrowser(fleet)
  for (const path of [
    '/console/../audit.log',
    '/console/%2e%2e/audit.log',
    '/console/assets/..%2findex.html',
    '/console/assets/../../audit.log',
    '/console//etc/passwd',
    '/console/.git',
  ]) {
    const { text, status } = await browser.ask({ path, headers: navigation })
    const isPage = text.includes('the console</p>')
    assert.ok(isPage || status >= 400, `${path}: ${status}`)
  }
})

test('a hub without the pages says so', async () => {
  await using bare = await startTestHub()
  const { status, text } = await openTestBrowser(bare).ask({
    path: '/console/',
    headers: navigation,
  })
  assert.equal(status, 404)
  assert.match(text, /no pages of the web console, because it runs from its sources/)
})
