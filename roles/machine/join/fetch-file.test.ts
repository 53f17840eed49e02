import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { ExpectedError, systemClock } from '@skerry/base'
import { createHttpsTransport, fixedCredentials, type HttpsTransport } from '@skerry/client'
// The maker of packages for tests.
import {
  signManifest,
  smallPackage,
} from '../../../packages/offline-package/testing/small-package.ts'
import { fetchAll } from './fetch-all.ts'
import { fetchFile, NotThereError, type PackageServer } from './fetch-file.ts'
import { readShare } from './read-share.ts'

const token = 'abcdef.0123456789abcdef'
/** Pauses between two tries take no time. */
const clock = { ...systemClock, sleep: async () => undefined }

let directory: string
let server: Server
let transport: HttpsTransport
let from: PackageServer
let answer: RequestListener
const asked: { authorization: string | undefined; range: string | undefined }[] = []

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-fetch-'))
  server = createServer((request, response) => {
    const { authorization, range } = request.headers
    asked.push({ authorization, range })
    response.on('error', () => undefined)
    answer(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const credentials = fixedCredentials({ bearerToken: token })
  transport = createHttpsTransport({ server: url, credentials }, { clock })
  from = { server: url, transport, clock, signal: new AbortController().signal }
})
after(async () => {
  transport[Symbol.dispose]()
  server.closeAllConnections()
  server.close()
  await rm(directory, { recursive: true })
})
beforeEach(() => void asked.splice(0))

/** Serves a content by ranges, and breaks the connection off after each of these numbers of bytes. */
function serve(content: Uint8Array, breaks: number[] = []): void {
  answer = (request, response) => {
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const range = { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': content.length - start,
      ...(start > 0 ? range : {}),
    })
    const bytes = breaks.shift()
    if (bytes === undefined) response.end(content.subarray(start))
    else response.write(content.subarray(start, start + bytes), () => response.socket?.end())
  }
}

const refOf = (content: Uint8Array) => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  bytes: content.length,
})

async function fetchInto(home: string, file = refOf(Buffer.from('x'))): Promise<string> {
  const target = join(home, file.sha256)
  await fetchFile(`/skerry/package/x/file-${file.sha256}`, { file, target }, from)
  return target
}

const newHome = (): Promise<string> => mkdtemp(join(directory, 'home-'))

const isExpected = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ExpectedError, String(error))
  assert.match(error.message, message)
  return true
}

test('a file of a package that breaks off continues where it ended, with the token of the line', async () => {
  const content = randomBytes(3_000_000)
  serve(content, [1_000_000, 500_000])
  const target = await fetchInto(await newHome(), refOf(content))
  assert.ok((await readFile(target)).equals(content))
  const starts = asked.map(({ range }) => Number(/bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0))
  assert.equal(starts[0], 0)
  assert.ok(starts.length > 1 && starts.slice(1).every((start) => start > 0), starts.join(' '))
  assert.ok(asked.every(({ authorization }) => authorization === `Bearer ${token}`))
})

test('a part that a power cut has damaged is fetched again', async () => {
  const content = randomBytes(300_000)
  serve(content)
  const file = refOf(content)
  for (const bytes of [100_000, content.length, content.length + 1]) {
    const home = await newHome()
    await writeFile(join(home, `${file.sha256}.part`), Buffer.alloc(bytes))
    assert.ok((await readFile(await fetchInto(home, file))).equals(content))
  }
})

test('an empty file, which a package may have, is fetched', async () => {
  serve(Buffer.alloc(0))
  const target = await fetchInto(await newHome(), refOf(Buffer.alloc(0)))
  assert.equal((await readFile(target)).length, 0)
})

test('a file that was changed is refused, and nothing of it stays', async () => {
  const content = randomBytes(100_000)
  const changed = Buffer.from(content)
  changed[50_000] = (changed[50_000] ?? 0) ^ 1
  serve(changed)
  const home = await newHome()
  await assert.rejects(fetchInto(home, refOf(content)), isExpected(/sent another one, and it was/))
  assert.deepEqual(await readdir(home), [])
})

test('a server that sends without an end is left after the bytes that the file has', async () => {
  const piece = Buffer.alloc(100_000)
  let sent = 0
  answer = (_request, response) => {
    response.writeHead(200)
    const more = (): void => {
      let takesMore = true
      while (takesMore && !response.destroyed) {
        takesMore = response.write(piece)
        sent += piece.length
      }
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  }
  const home = await newHome()
  const file = { sha256: '0'.repeat(64), bytes: 200_000 }
  await assert.rejects(fetchInto(home, file), isExpected(/sent another one/))
  assert.ok(sent < 50_000_000, String(sent))
  assert.deepEqual(await readdir(home), [])
})

const refusals: readonly [string, RequestListener, RegExp][] = [
  [
    'refuses the token',
    (_request, response) => response.writeHead(401).end('no'),
    /it refuses the token of the line .*make a new line there/,
  ],
  [
    'gives this user nothing',
    (_request, response) => response.writeHead(403).end('no'),
    /it refuses the token of the line/,
  ],
  [
    'fails all the time',
    (_request, response) => response.writeHead(503).end('the disk is full'),
    /Cannot fetch \S+ from \S+: .*the disk is full; try again/,
  ],
  [
    'answers with another part',
    (_request, response) =>
      response.writeHead(206, { 'content-range': 'bytes 5-9/10' }).end('later'),
    /it answers bytes 0- with bytes 5-9\/10; try again/,
  ],
  [
    'leads elsewhere',
    (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    /HTTP 302.*try again/,
  ],
  [
    'ends every connection',
    (request) => request.socket.destroy(),
    /Cannot fetch \S+ from \S+: .*; try again/,
  ],
]
for (const [what, listener, message] of refusals) {
  test(`a server that ${what} is named, and nothing stays`, async () => {
    answer = listener
    const home = await newHome()
    await assert.rejects(fetchInto(home), isExpected(message))
    assert.deepEqual(await readdir(home), [])
  })
}

test('a file that the server has not kept is an error of its own, and is asked for once', async () => {
  answer = (_request, response) => response.writeHead(404).end('not kept')
  await assert.rejects(fetchInto(await newHome()), NotThereError)
  assert.equal(asked.length, 1)
})

test('a site that has not kept all files of its package gives those that it has, and the others are named', async () => {
  const [kept, gone] = [randomBytes(1_000), randomBytes(2_000)].map(refOf)
  const content = randomBytes(3_000)
  const own = refOf(content)
  assert.ok(kept && gone)
  answer = (request, response) =>
    request.url?.endsWith(own.sha256) === true
      ? response.end(content)
      : response.writeHead(404).end('not kept')
  const directory = await newHome()
  const lines: string[] = []
  const files = [
    { name: 'containerd', file: own },
    { name: 'libc6', file: kept },
    { name: 'libc6', file: gone },
  ]
  const asks = {
    from,
    digest: `sha256:${'a'.repeat(64)}`,
    directory,
    print: (line: string) => void lines.push(line),
  }
  assert.deepEqual(await fetchAll(files, asks), ['libc6'])
  assert.deepEqual(await readdir(directory), [own.sha256])
  assert.match(lines.at(-1) ?? '', /has not kept libc6 of the package; start it with --package/)
})

/** Serves the manifest and the signature of a package. */
function serveSigned(manifest: Uint8Array, signature: Uint8Array | string): void {
  answer = (request, response) =>
    response.end(request.url?.endsWith('manifest.json') === true ? manifest : signature)
}

const machine = { architecture: 'x86_64', release: 'debian-12', hasPackages: false }

test('a package is taken by the digest and the key of the line alone, and for images by a machine of any release that has all programs', async () => {
  await using made = await smallPackage()
  await using other = await smallPackage('0.4.0')
  const { digest, key } = made
  const read = (name: string): Promise<Buffer> => readFile(join(made.directory, name))
  const [manifest, signature] = [await read('manifest.json'), await read('manifest.sig')]
  serveSigned(manifest, signature)
  const offline = { digest, publicKey: key.publicKey }
  const { share } = await readShare(from, offline, machine)
  assert.deepEqual(
    share.release.debs.map(({ name }) => name),
    ['runc'],
  )
  const readAs = (asks: typeof offline, at = machine) => readShare(from, asks, at)
  const wrongKey = { digest, publicKey: other.key.publicKey }
  await assert.rejects(readAs(wrongKey), isExpected(/this key has not signed it/))
  await assert.rejects(
    readAs(offline, { ...machine, release: 'ubuntu-24.04' }),
    isExpected(/it has no packages for ubuntu-24\.04 on x86_64, only debian-12 on x86_64/),
  )
  const ubuntu = { ...machine, release: 'ubuntu-24.04', hasPackages: true }
  const whole = await readAs(offline, ubuntu)
  assert.deepEqual([whole.share.release.debs.length, whole.share.images.length], [0, 1])
  serveSigned(Buffer.from(manifest.toString().replace('0.2.0', '0.3.0')), signature)
  await assert.rejects(
    readAs(offline),
    isExpected(/sent another one, sha256:[0-9a-f]{64}; somebody/),
  )
  const theirs = signManifest(other.manifest, other.key)
  serveSigned(theirs.manifest, theirs.signature)
  await assert.rejects(readAs(offline), isExpected(/sent another one/))
  serveSigned(manifest, 'A'.repeat(5_000))
  await assert.rejects(readAs(offline), isExpected(/above 1024 bytes/))
})

test('a manifest without an end, and one whose names lead elsewhere, give nothing', async () => {
  await using made = await smallPackage()
  const { digest, key, manifest } = made
  serveSigned(Buffer.alloc(5 * 1024 * 1024, 'x'), '')
  const offline = { digest, publicKey: key.publicKey }
  await assert.rejects(readShare(from, offline, machine), isExpected(/above 4194304 bytes/))
  const odd = structuredClone(manifest)
  const [deb] = odd.releases[0]?.debs ?? []
  assert.ok(deb)
  deb.file.sha256 = '../../../etc/cron.d/x'
  const signed = signManifest(odd, key)
  serveSigned(signed.manifest, signed.signature)
  const asks = { digest: signed.digest, publicKey: key.publicKey }
  await assert.rejects(readShare(from, asks, machine), isExpected(/its manifest is wrong/))
})
