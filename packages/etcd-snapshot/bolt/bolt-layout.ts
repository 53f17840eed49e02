/**
 * The layout of a bbolt file (version 2), after bbolt's documentation. All numbers are little-endian.
 *
 * A file is a row of pages. Page: id u64, flags u16, count u16, overflow u32, content. `overflow` further pages belong to
 * it. Pages 0 and 1 are metas, and the valid one with the larger transaction id counts.
 * Meta: magic u32, version u32, page size u32, flags u32, root page of the root bucket u64, its sequence u64, page of
 * the free list u64, number of pages u64, transaction id u64, FNV-1a of these u64.
 * Leaf: an element for each key: flags u32, position u32 (counted from the element), key size u32, value size u32.
 * Branch: an element for each page below: position u32, key size u32, page id u64.
 * Bucket, a value in a leaf: root page u64, sequence u64; if the root is 0, a whole page follows in the value.
 */
export const pageHeaderBytes = 16
export const elementBytes = 16
export const bucketBytes = 16
export const metaBytes = 64

export const pageFlags = Object.freeze({ branch: 0x01, leaf: 0x02, meta: 0x04, freelist: 0x10 })
export const bucketFlag = 0x01
const magic = 0xed0cdaed
const version = 2
export interface PageHeader {
  readonly id: bigint
  readonly flags: number
  readonly count: number
  readonly overflow: number
}

export interface Meta {
  readonly pageBytes: number
  readonly root: bigint
  readonly sequence: bigint
  readonly freelist: bigint
  readonly pages: bigint
  readonly transaction: bigint
}

export interface Element {
  readonly key: Buffer
  readonly value: Buffer
}

export function writePageHeader(page: Buffer, { id, flags, count, overflow }: PageHeader): void {
  page.writeBigUInt64LE(id, 0)
  page.writeUInt16LE(flags, 8)
  page.writeUInt16LE(count, 10)
  page.writeUInt32LE(overflow, 12)
}

export function readPageHeader(page: Buffer): PageHeader {
  return {
    id: page.readBigUInt64LE(0),
    flags: page.readUInt16LE(8),
    count: page.readUInt16LE(10),
    overflow: page.readUInt32LE(12),
  }
}

export function metaOf(meta: Meta): Buffer {
  const bytes = Buffer.alloc(metaBytes)
  bytes.writeUInt32LE(magic, 0)
  bytes.writeUInt32LE(version, 4)
  bytes.writeUInt32LE(meta.pageBytes, 8)
  bytes.writeBigUInt64LE(meta.root, 16)
  bytes.writeBigUInt64LE(meta.sequence, 24)
  bytes.writeBigUInt64LE(meta.freelist, 32)
  bytes.writeBigUInt64LE(meta.pages, 40)
  bytes.writeBigUInt64LE(meta.transaction, 48)
  bytes.writeBigUInt64LE(fnv1a(bytes.subarray(0, 56)), 56)
  return bytes
}

/** Returns undefined for bytes that are not an intact meta. */
export function readMeta(bytes: Buffer): Meta | undefined {
  if (bytes.length < metaBytes) return undefined
  if (bytes.readUInt32LE(0) !== magic || bytes.readUInt32LE(4) !== version) return undefined
  if (bytes.readBigUInt64LE(56) !== fnv1a(bytes.subarray(0, 56))) return undefined
  return {
    pageBytes: bytes.readUInt32LE(8),
    root: bytes.readBigUInt64LE(16),
    sequence: bytes.readBigUInt64LE(24),
    freelist: bytes.readBigUInt64LE(32),
    pages: bytes.readBigUInt64LE(40),
    transaction: bytes.readBigUInt64LE(48),
  }
}

/** FNV-1a of 64 bits. */
function fnv1a(bytes: Uint8Array): bigint {
  let hash = 0xcbf2_9ce4_8422_2325n
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100_0000_01b3n)
  return hash
}
