import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ExpectedError, exitCodes, silentLogger, systemClock } from '@skerry/base'
import { createAuthority, generateKeyPair, signCertificate, type Authority } from '@skerry/pki'
import { startTestEtcd, whyNoEtcd, type TestEtcd } from '@skerry/testing'
import { storeContract } from '../testing/store-contract.ts'
import type { WireEvent } from './etcd-schema-table.ts'
import { openEtcdStore, type EtcdStore } from './etcd-store.ts'
import { canTellProgress } from './etcd-version.ts'
import { wholeRevisions } from './etcd-watch.ts'

const skip = await whyNoEtcd()
const nowhere = new AbortController().signal
const deps = { clock: systemClock, log: silentLogger }

function open(etcd: TestEtcd, prefix: string): Promise<EtcdStore> {
  return openEtcdStore({ endpoints: [etcd.endpoint], prefix }, deps, nowhere)
}

if (skip === false) {
  const shared = await startTestEtcd()
  after(() => shared[Symbol.asyncDispose]())
  let count = 0
  storeContract('etcd', async () => {
    count += 1
    const store = await open(shared, `/contract/${count}`)
    return {
      store,
      async advance(ms) {
        // etcd has its own clock, so its leases end in real time.
        await systemClock.sleep(ms, nowhere)
        // Requests are executed in order, so watches that began before exist now.
        await store.revision()
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    }
  })
}

test('a watch goes on where it was when etcd dies and returns', { skip }, async () => {
  await using etcd = await startTestEtcd()
  await using store = await open(etcd, '/restart')
  const start = await store.revision()
  const abort = new AbortController()
  const watch = store.watch({ prefix: '/', afterRevision: start }, abort.signal)
  const seen: string[] = []
  const watching = (async () => {
    for await (const { events } of watch) {
      seen.push(...events.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`))
      if (seen.length >= 3) return
    }
  })()
  const put = (key: string) =>
    store.write({ key, value: Buffer.from('x'), expectRevision: 0 }).catch(() => undefined)
  await put('/a')
  await etcd.kill()
  // No member answers; the value is written once etcd is back.
  const waiting = put('/b')
  await etcd.start()
  await waiting
  await put('/c')
  await watching
  assert.deepEqual(seen, ['/a=x', '/b=x', '/c=x'])
})

test('one answering endpoint of several is enough', { skip }, async () => {
  await using gone = await startTestEtcd()
  await gone.kill()
  await using etcd = await startTestEtcd()
  const endpoints = [gone.endpoint, etcd.endpoint]
  await using store = await openEtcdStore({ endpoints, prefix: '/failover' }, deps, nowhere)
  const { revision } = await store.write({ key: '/a', value: Buffer.from('x') })
  assert.equal((await store.get('/a')).entry?.modRevision, revision)
})

test('without etcd the error says where it was looked for', { skip }, async () => {
  await using etcd = await startTestEtcd()
  await etcd.kill()
  await assert.rejects(open(etcd, '/nowhere'), (error: ExpectedError) => {
    return error.exitCode === exitCodes.unreachable && error.message.includes(etcd.endpoint)
  })
})

test('etcd is reached over TLS, with a client certificate', { skip }, async () => {
  await using scratch = await temporaryDirectory()
  const authority = await createAuthority({ subject: { commonName: 'etcd-ca' }, ...lifetime })
  const issued = await issueBoth(authority)
  const [ca, cert, key] = await Promise.all([
    scratch.write('ca.crt', authority.certificatePem),
    scratch.write('etcd.crt', issued.cert),
    scratch.write('etcd.key', issued.key),
  ])
  await using etcd = await startTestEtcd({ tls: { ca, cert, key } })
  const endpoints = [etcd.endpoint]
  const trusted = { ca: authority.certificatePem }
  const tls = { ...trusted, cert: issued.cert, key: issued.key }
  await using store = await openEtcdStore({ endpoints, prefix: '/tls', tls }, deps, nowhere)
  assert.equal((await store.write({ key: '/a', value: Buffer.from('x') })).isApplied, true)
  await assert.rejects(
    openEtcdStore({ endpoints, prefix: '/tls', tls: trusted }, deps, nowhere),
    ExpectedError,
  )
})

test(
  'a backup is a snapshot of etcd with its digest, and takes no other file away',
  { skip },
  async () => {
    await using etcd = await startTestEtcd()
    await using store = await open(etcd, '/backup')
    await using scratch = await temporaryDirectory()
    const value = Buffer.alloc(100_000, 'mark-of-this-test ')
    const written = await store.write({ key: '/a', value })
    const path = join(scratch.path, 'copies', 'etcd.db')
    const { bytes, revision } = await store.backup(path)
    const content = await readFile(path)
    assert.equal(content.length, bytes)
    assert.ok(revision >= written.revision)
    assert.equal(content.readUInt32LE(16), boltMagic)
    assert.ok(content.includes('mark-of-this-test'))
    const [data, sum] = [content.subarray(0, -32), content.subarray(-32)]
    assert.ok(createHash('sha256').update(data).digest().equals(sum))
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    await assert.rejects(store.backup(path), /the file exists; choose another name/)
    assert.deepEqual(await readdir(join(scratch.path, 'copies')), ['etcd.db'])
  },
)

/** The magic number of the first page of a bbolt file. */
const boltMagic = 0xed0cdaed

test('a backup from an etcd that is gone fails in time, and leaves nothing', { skip }, async () => {
  await using etcd = await startTestEtcd()
  await using store = await open(etcd, '/gone')
  await using scratch = await temporaryDirectory()
  await etcd.kill()
  await assert.rejects(store.backup(join(scratch.path, 'etcd.db')), /Cannot reach etcd/)
  assert.deepEqual(await readdir(scratch.path), [])
})

const versions: readonly (readonly [version: string, tells: boolean])[] = [
  ['3.4.23', false],
  ['3.4.31', true],
  ['3.5.12', false],
  ['3.5.13', true],
  ['3.6.0-rc.1', true],
  ['3.7.3', true],
]

for (const [version, tells] of versions) {
  test(`etcd ${version} is ${tells ? '' : 'not '}asked how far it is`, () => {
    assert.equal(canTellProgress(version), tells)
  })
}

test('the newest revision of an answer in parts waits until the answer is whole', () => {
  const at = (modRevision: number): WireEvent => {
    const none = new Uint8Array(0)
    return { type: 0, kv: { key: none, value: none, createRevision: 1, modRevision } }
  }
  const shown = (events: readonly WireEvent[]) => events.map(({ kv }) => kv.modRevision)
  const part = wholeRevisions([2, 3, 3].map(at), true)
  assert.deepEqual([shown(part.whole), shown(part.rest)], [[2], [3, 3]])
  const last = wholeRevisions([...part.rest, at(3)], false)
  assert.deepEqual([shown(last.whole), shown(last.rest)], [[3, 3, 3], []])
})

const lifetime = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }

/** Issues one certificate for both ends, as etcd members use among themselves. */
async function issueBoth(authority: Authority): Promise<{ cert: string; key: string }> {
  const { privateKeyPem: key, publicKeyPem } = await generateKeyPair()
  const cert = await signCertificate(authority, {
    ...lifetime,
    subject: { commonName: 'etcd' },
    publicKeyPem,
    ipAddresses: ['127.0.0.1'],
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth', 'clientAuth'],
  })
  return { cert, key }
}

async function temporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'skerry-etcd-tls-'))
  return {
    path,
    async write(name: string, text: string): Promise<string> {
      const file = join(path, name)
      await writeFile(file, text, { mode: 0o600 })
      return file
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  }
}
