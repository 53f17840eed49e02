import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ExpectedError, seededRandom } from '@skerry/base'
import { metaOf, readMeta } from './bolt/bolt-layout.ts'
import { openSnapshot } from './snapshot-reader.ts'
import { writeSnapshot } from './snapshot-writer.ts'
import { collect, historyOf, inScratch, sourceOf } from './testing/histories.ts'

const pageBytes = 4_096

/** Writes a snapshot, lets `spoil` change its database, and gives it the checksum that belongs to the result. */
async function spoiled(
  path: string,
  spoil: (bytes: Buffer) => Buffer | void,
  size = 400,
): Promise<void> {
  const records = sourceOf(historyOf(size))
  const leases = [{ id: 7n, ttlSeconds: 60 }]
  await writeSnapshot(path, { compacted: 2, scrubbed: 2, leases, records }, { hasChecksum: true })
  const whole = await readFile(path)
  const database = Buffer.from(whole.subarray(0, whole.length - 32))
  const result = spoil(database) ?? database
  await writeFile(path, Buffer.concat([result, createHash('sha256').update(result).digest()]))
}

async function readAll(path: string): Promise<number> {
  await using snapshot = await openSnapshot(path)
  return (await collect(snapshot)).length
}

/** The first page with these flags from a page on. */
function pageWith(bytes: Buffer, flags: number, from = 3): number {
  for (let id = from; id < bytes.length / pageBytes; id += 1) {
    if (bytes.readUInt16LE(id * pageBytes + 8) === flags) return id
  }
  throw new Error(`No page has flags ${flags}`)
}

const leaf = 2
const branch = 1

const lies: readonly (readonly [
  what: string,
  spoil: (bytes: Buffer) => Buffer | void,
  why: RegExp,
])[] = [
  [
    'a branch that names itself',
    (bytes) => {
      const id = pageWith(bytes, branch)
      bytes.writeBigUInt64LE(BigInt(id), id * pageBytes + 16 + 8)
    },
    /page \d+: a second page names it/,
  ],
  [
    'a branch that names one page twice',
    (bytes) => {
      const at = pageWith(bytes, branch) * pageBytes + 16
      bytes.writeBigUInt64LE(bytes.readBigUInt64LE(at + 8), at + 16 + 8)
    },
    /page \d+: a second page names it/,
  ],
  [
    'a branch that names a page beyond the file',
    (bytes) => {
      const at = pageWith(bytes, branch) * pageBytes + 16
      bytes.writeBigUInt64LE(2n ** 63n, at + 8)
    },
    /page \d+: it names page 9223372036854775808/,
  ],
  [
    'a branch without a child',
    (bytes) => void bytes.writeUInt16LE(0, pageWith(bytes, branch) * pageBytes + 10),
    /page \d+: it is an empty branch/,
  ],
  [
    'a leaf with more elements than it has room for',
    (bytes) => void bytes.writeUInt16LE(65_535, pageWith(bytes, leaf) * pageBytes + 10),
    /page 3: it cannot hold 65535 elements/,
  ],
  [
    'a leaf whose value has four gigabytes',
    (bytes) => void bytes.writeUInt32LE(0xffff_ffff, pageWith(bytes, leaf) * pageBytes + 16 + 12),
    /page 3: its element 0 does not stand within it/,
  ],
  [
    'a leaf whose key begins behind it',
    (bytes) => void bytes.writeUInt32LE(0xffff_fff0, pageWith(bytes, leaf) * pageBytes + 16 + 4),
    /page 3: its element 0 does not stand within it/,
  ],
  [
    'a page with four billion further pages',
    (bytes) => void bytes.writeUInt32LE(0xffff_ffff, pageWith(bytes, leaf) * pageBytes + 12),
    /page 3: it reaches beyond the end/,
  ],
  [
    'a page with another number',
    (bytes) => void bytes.writeBigUInt64LE(77n, pageWith(bytes, leaf) * pageBytes),
    /page 3: it says that it is page 77/,
  ],
  [
    'keys out of order',
    (bytes) => {
      const at = pageWith(bytes, leaf) * pageBytes + 16
      const first = Buffer.from(bytes.subarray(at, at + 16))
      const [a, b] = [bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 16 + 4)]
      bytes.copy(bytes, at, at + 16, at + 32)
      first.copy(bytes, at + 16)
      bytes.writeUInt32LE(b + 16, at + 4)
      bytes.writeUInt32LE(a - 16, at + 16 + 4)
    },
    /page 3: its element 1 is out of order/,
  ],
  ['a file that ends within its pages', (bytes) => bytes.subarray(0, 5 * pageBytes), /are missing/],
  ['a file of nothing', () => Buffer.alloc(0), /pages 0 and 1 are not metas/],
  ['a file of zeros', () => Buffer.alloc(64 * pageBytes), /pages 0 and 1 are not metas/],
  [
    'metas that promise more pages than there are',
    (bytes) => {
      for (const at of [16, pageBytes + 16]) {
        const meta = readMeta(bytes.subarray(at))
        if (meta) metaOf({ ...meta, pages: 2n ** 60n }).copy(bytes, at)
      }
    },
    /are missing: 1152921504606846976 pages/,
  ],
  [
    'a key that is not a revision',
    (bytes) => {
      const at = pageWith(bytes, leaf) * pageBytes + 16
      bytes[at + bytes.readUInt32LE(at + 4) + 8] = 0
    },
    /page 3: a key is not a revision/,
  ],
]

for (const [what, spoil, why] of lies) {
  test(`${what} is refused with the page`, () =>
    inScratch(async (path) => {
      await spoiled(path, spoil)
      await assert.rejects(readAll(path), (error: unknown) => {
        assert.ok(error instanceof ExpectedError)
        assert.match(error.message, why)
        assert.ok(error.message.includes(path))
        return true
      })
    }))
}

test('one meta is enough, as after a power cut', () =>
  inScratch(async (path) => {
    await spoiled(path, (bytes) => void bytes.fill(0, 0, pageBytes))
    assert.equal(await readAll(path), 400)
    await writeFile(path, '')
    await assert.rejects(readAll(path), ExpectedError)
  }))

test('a snapshot that lost one bit is refused by its checksum', () =>
  inScratch(async (path) => {
    await spoiled(path, () => {})
    const bytes = await readFile(path)
    bytes[(bytes.length / 2) | 0] = (bytes[(bytes.length / 2) | 0] ?? 0) ^ 4
    await writeFile(path, bytes)
    await assert.rejects(readAll(path), /its checksum is wrong/)
  }))

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))

test(`no damage makes the reader hang or crash, seed ${seed}`, async () => {
  const random = seededRandom(seed)
  const pick = (below: number): number => Math.floor(random.next() * below)
  await inScratch(async (path) => {
    await spoiled(path, () => {}, 600)
    const whole = await readFile(path)
    const database = whole.subarray(0, whole.length - 32)
    for (let round = 0; round < 150; round += 1) {
      const bytes = Buffer.from(
        database.subarray(0, round % 5 === 0 ? pick(database.length) & ~511 : undefined),
      )
      for (let change = 1 + pick(4); change > 0 && bytes.length > 0; change -= 1) {
        // Headers and elements stand at the front of a page, and lies there are the worst.
        const page = pick(Math.ceil(bytes.length / pageBytes)) * pageBytes
        const at = Math.min(bytes.length - 1, page + pick(random.next() < 0.7 ? 64 : pageBytes))
        bytes[at] = random.next() < 0.5 ? pick(256) : (bytes[at] ?? 0) ^ (1 << pick(8))
      }
      await writeFile(path, Buffer.concat([bytes, createHash('sha256').update(bytes).digest()]))
      try {
        assert.ok((await readAll(path)) <= 600)
      } catch (error) {
        assert.ok(error instanceof ExpectedError, `round ${round}: ${String(error)}`)
        assert.match(error.message, /page|pages|cut off|bucket/)
      }
    }
  })
})

test('a revision to which etcdutl went, with nothing in it, is passed over', () =>
  inScratch(async (path) => {
    await spoiled(path, (bytes) => {
      const count = bytes.length / pageBytes
      const at = Array.from({ length: count }, (_, id) => id * pageBytes).find(
        // The key of a change is a revision of 17 bytes; a deletion has one more.
        (page) => bytes.readUInt16LE(page + 8) === leaf && bytes.readUInt32LE(page + 16 + 8) === 17,
      )
      assert.ok(at !== undefined)
      bytes.writeUInt32LE(0, at + 16 + 12)
    })
    assert.equal(await readAll(path), 399)
  }))
