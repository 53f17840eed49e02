import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { rewriteAddress, rewriteLinks } from './rewrite-links.ts'

const prefix = '/api/v1/namespaces/shop/pods/web/proxy'
const place = { prefix, host: '10.1.2.3:8080' }
const html = { 'content-type': 'text/html; charset=utf-8', 'content-length': '1' }

test('addresses of the backend become addresses below the proxy', () => {
  const cases = [
    ['/in', `${prefix}/in`],
    ['/', `${prefix}/`],
    ['http://10.1.2.3:8080/own?x=1', `${prefix}/own?x=1`],
    ['https://10.1.2.3:8080', `${prefix}/`],
    ['relative/page', 'relative/page'],
    ['//elsewhere/x', '//elsewhere/x'],
    ['http://elsewhere/x', 'http://elsewhere/x'],
    [`${prefix}/already`, `${prefix}/already`],
    ['#part', '#part'],
  ] as const
  for (const [address, expected] of cases) assert.equal(rewriteAddress(address, place), expected)
})

const page = `<html><a class=x href="/in">é</a><img src=/pic><A HREF='/up'>1 < 2</A><p href="/no">`
const wanted = `<html><a class=x href="${prefix}/in">é</a><img src=${prefix}/pic><A HREF='${prefix}/up'>1 < 2</A><p href="/no">`

test('the links of a page lead through the proxy, however its bytes come', async () => {
  const bytes = Buffer.from(page)
  for (const size of [1, 7, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    const { body, headers } = rewriteLinks(Readable.from(chunks), html, place)
    assert.equal(Buffer.concat(await Array.fromAsync(body)).toString(), wanted)
    assert.equal(headers['content-length'], undefined)
  }
  const packed = { ...html, 'content-encoding': 'gzip' }
  const { body } = rewriteLinks(Readable.from([gzipSync(page)]), packed, place)
  assert.equal(gunzipSync(Buffer.concat(await Array.fromAsync(body))).toString(), wanted)
})

test('content that is not a page passes unchanged, and a redirect stays below the proxy', async () => {
  const headers = { 'content-type': 'text/plain', location: '/next' }
  const answer = rewriteLinks(Readable.from([Buffer.from(page)]), headers, place)
  assert.equal(Buffer.concat(await Array.fromAsync(answer.body)).toString(), page)
  assert.equal(answer.headers['location'], `${prefix}/next`)
})

test('a page that breaks off does not look whole', async () => {
  const source = Readable.from([Buffer.from('<html>')], { objectMode: true })
  const { body } = rewriteLinks(source, html, place)
  source.destroy(new Error('the backend went away'))
  await assert.rejects(Array.fromAsync(body), /the backend went away/)
})
