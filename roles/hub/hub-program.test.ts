import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http2 from 'node:http2'
import { request, type RequestOptions } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { until } from '@skerry/testing'
import { startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

const bytes = 3_000_000
const program = randomBytes(bytes)

let hub: TestHub
let directory: string
/** The path of the packed program, and its content. */
let file: { path: string; content: Buffer; sha256: string }

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-program-'))
  const path = join(directory, 'program')
  await writeFile(path, program)
  hub = await startTestHub({ machines: { programs: { x86_64: [path], aarch64: [path] } } })
  const script = (await get('/skerry/program/install.sh')).body.toString()
  const [, sha256 = ''] = /place_file ([0-9a-f]{64}) /.exec(script) ?? []
  const content = (await get(`/skerry/program/sha256-${sha256}`)).body
  file = { path: `/skerry/program/sha256-${sha256}`, content, sha256 }
})
after(async () => {
  await hub[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Asks as a machine that knows nothing: without a login. */
async function get(path: string, options: RequestOptions = {}): Promise<Answer> {
  const sent = request(new URL(path, hub.url), { ca: hub.caPem, agent: false, path, ...options })
  // A server that refuses a head may cut the connection a second time.
  sent.on('error', () => undefined)
  sent.end()
  const [response] = await once(sent, 'response')
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece)
  return {
    status: response.statusCode,
    headers: response.headers,
    body: Buffer.concat(pieces),
  }
}

test('anybody gets the script, and each file by the hash of its content', async () => {
  const { status, headers, body } = await get('/skerry/program/install.sh')
  assert.equal(status, 200)
  assert.match(String(headers['content-type']), /^text\/x-shellscript/)
  assert.match(body.toString(), /^#!\/bin\/sh\n/)
  const whole = await get(file.path)
  assert.equal(createHash('sha256').update(whole.body).digest('hex'), file.sha256)
  assert.match(String(whole.headers['cache-control']), /immutable/)
  assert.equal(whole.headers['content-length'], String(whole.body.length))
  assert.ok(gunzipSync(whole.body).equals(program))
})

test('a download goes on where it ended, also for a client that names a time or this content', async () => {
  const { content, path, sha256 } = file
  const conditions = [undefined, `"${sha256}"`, 'Tue, 24 Nov 2026 00:09:11 GMT']
  for (const condition of conditions) {
    const headers = { range: 'bytes=1000000-', ...(condition && { 'if-range': condition }) }
    const { status, headers: got, body } = await get(path, { headers })
    assert.equal(status, 206)
    const last = content.length - 1
    assert.equal(got['content-range'], `bytes 1000000-${last}/${content.length}`)
    assert.ok(body.equals(content.subarray(1_000_000)))
  }
  const other = { range: 'bytes=1000000-', 'if-range': '"another"' }
  assert.equal((await get(path, { headers: other })).body.length, content.length)
})

test('a range that is not there, and ten thousand ranges, get no byte', async () => {
  const many = Array.from({ length: 10_000 }, (_, at) => `${at}-${at}`).join(',')
  for (const range of [`bytes=${file.content.length}-`, `bytes=${many}`]) {
    const { status, headers, body } = await get(file.path, { headers: { range } })
    assert.equal(status, 416)
    assert.equal(headers['content-range'], `bytes */${file.content.length}`)
    assert.equal(body.length, 0)
  }
})

test('the head of a file has its length and no content', async () => {
  const { status, headers, body } = await get(file.path, { method: 'HEAD' })
  assert.equal(status, 200)
  assert.equal(headers['content-length'], String(file.content.length))
  assert.equal(body.length, 0)
})

test('nothing but the program is served, and nobody can write it', async () => {
  const other = '0'.repeat(64)
  const closed = [
    ['GET', '/skerry/program/', 403],
    ['GET', '/skerry/program/../../pki/ca.key', 403],
    ['GET', '/skerry/program/%2e%2e/%2e%2e/pki/ca.key', 403],
    ['GET', '/skerry/program/..%2f..%2fpki%2fca.key', 403],
    ['GET', '/skerry/program/programs', 403],
    ['GET', `${file.path}/..`, 403],
    ['GET', `${file.path}x`, 403],
    ['GET', file.path.toUpperCase(), 403],
    ['GET', `/skerry/program/sha256-${other}`, 404],
    ['POST', file.path, 403],
    ['PUT', '/skerry/program/install.sh', 403],
    ['DELETE', file.path, 403],
  ] as const
  for (const [method, path, status] of closed) {
    const answer = await get(path, { method })
    assert.equal(answer.status, status, `${method} ${path}`)
    assert.ok(answer.body.length < 2_000)
  }
  const huge = { headers: { range: 'bytes=0-', 'x-huge': 'x'.repeat(2_000_000) } }
  const refused = await get(file.path, huge).catch((error: unknown) => error)
  assert.ok(refused instanceof Error || (refused as Answer).status === 431)
})

test('readers that take nothing hold neither others nor themselves', async () => {
  const client = http2.connect(hub.url, { ca: hub.caPem, settings: { initialWindowSize: 0 } })
  client.on('error', () => undefined)
  const streams = Array.from({ length: 16 }, () => client.request({ ':path': file.path }))
  const seen = await Promise.all(
    streams.map(async (stream) => {
      stream.on('error', () => undefined)
      const [headers] = await once(stream, 'response')
      return headers[':status']
    }),
  )
  assert.deepEqual(new Set(seen), new Set([200]))
  const busy = await get(file.path)
  assert.equal(busy.status, 429)
  assert.equal(busy.headers['retry-after'], '5')
  // Everything else is answered, and so are downloads once the readers are gone.
  assert.equal((await get('/healthz')).status, 200)
  client.destroy()
  const { body } = await until(async () => {
    const answer = await get(file.path)
    return answer.status === 200 && answer
  })
  assert.ok(body.equals(file.content))
})

test('a hub that runs from its sources says that it has no program to give', async () => {
  await using other = await startTestHub()
  const sent = request(new URL('/skerry/program/install.sh', other.url), { ca: other.caPem })
  sent.end()
  const [response] = await once(sent, 'response')
  assert.equal(response.statusCode, 503)
  let text = ''
  for await (const piece of response) text += piece
  assert.match(text, /the hub runs from its sources, which machines cannot/)
})
