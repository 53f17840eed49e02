import type { FileHandle } from 'node:fs/promises'
import { etcdSnapshotBounds } from '../limits-table.ts'
import {
  bucketBytes,
  bucketFlag,
  elementBytes,
  metaBytes,
  pageFlags,
  pageHeaderBytes,
  readMeta,
  readPageHeader,
  type Element,
  type Meta,
} from './bolt-layout.ts'

const { pageRunBytesMax, depthMax, bucketsMax, pagesMax } = etcdSnapshotBounds.boltReader
const pageBytesMin = 512
const pageBytesMax = 65_536

/** Reports a file that is damaged, or not a bbolt database; the message names the page. */
export class DamagedFileError extends Error {
  override name = 'DamagedFileError'
}

/** An element of a leaf, with the page where it stands. */
export interface PlacedElement extends Element {
  readonly page: number
}

/** A page that was read, and checked as far as its header says. */
interface Page {
  readonly id: number
  readonly isLeaf: boolean
  readonly count: number
  readonly bytes: Buffer
}

/**
 * Reads buckets of a bbolt file in the order of their keys, page by page. The file may be anybody's: each page is read
 * at most once, every number is checked before it is used, and a file that lies is a DamagedFileError.
 */
export class BoltReader {
  readonly #file: FileHandle
  readonly #meta: Meta
  readonly #pages: number
  readonly #visited: Uint8Array
  readonly #buckets = new Map<string, { value: Buffer; page: number }>()

  private constructor(file: FileHandle, meta: Meta, pages: number) {
    this.#file = file
    this.#meta = meta
    this.#pages = pages
    this.#visited = new Uint8Array(Math.ceil(pages / 8))
  }

  /** Takes the bytes of the database in the file; a checksum may follow them. */
  static async open(file: FileHandle, bytes: number): Promise<BoltReader> {
    const meta = await findMeta(file, bytes)
    const pages = Math.floor(bytes / meta.pageBytes)
    if (pages > pagesMax) throw new DamagedFileError(`it has more than ${pagesMax} pages`)
    if (meta.pages > BigInt(pages)) {
      const text = `page ${pages} and those after it are missing: ${meta.pages} pages are expected`
      throw new DamagedFileError(text)
    }
    const reader = new BoltReader(file, meta, Number(meta.pages))
    await reader.#readBuckets()
    return reader
  }

  has(bucket: string): boolean {
    return this.#buckets.has(bucket)
  }

  /** Yields the elements of each leaf in ascending order of their keys; nothing if there is no such bucket. */
  async *leaves(bucket: string): AsyncGenerator<PlacedElement[], void> {
    const found = this.#buckets.get(bucket)
    if (found === undefined) return
    for await (const elements of this.#leavesOf(found)) {
      if (elements.some(({ isBucket }) => isBucket)) {
        throw damaged(elements[0]?.page ?? 0, `bucket "${bucket}" has a bucket within`)
      }
      yield elements
    }
  }

  async #readBuckets(): Promise<void> {
    const root = this.#idOf(this.#meta.root, 0)
    for await (const elements of this.#walk(root)) {
      for (const { key, value, page, isBucket } of elements) {
        if (!isBucket) throw damaged(page, 'a key stands outside of all buckets')
        if (value.length < bucketBytes) throw damaged(page, 'a bucket is cut off')
        if (this.#buckets.size >= bucketsMax) throw damaged(page, `more than ${bucketsMax} buckets`)
        this.#buckets.set(key.toString(), { value: Buffer.from(value), page })
      }
    }
  }

  async *#leavesOf({
    value,
    page,
  }: {
    value: Buffer
    page: number
  }): AsyncGenerator<LeafElement[], void> {
    const root = value.readBigUInt64LE(0)
    if (root !== 0n) return yield* this.#walk(this.#idOf(root, page))
    const bytes = value.subarray(bucketBytes)
    if (bytes.length < pageHeaderBytes) throw damaged(page, 'a bucket within it is cut off')
    const { flags, count } = readPageHeader(bytes)
    if (flags !== pageFlags.leaf) throw damaged(page, 'a bucket within it is not a leaf')
    const elements = leafElements({ id: page, isLeaf: true, count, bytes })
    requireOrder(elements, undefined)
    if (elements.length > 0) yield elements
  }

  /** Visits a tree in order, and each page of the file at most once. */
  async *#walk(root: number): AsyncGenerator<LeafElement[], void> {
    const ahead: { id: number; from: number; depth: number }[] = [{ id: root, from: 0, depth: 0 }]
    let last: Buffer | undefined
    for (let next = ahead.pop(); next; next = ahead.pop()) {
      const { id, from, depth } = next
      if (depth > depthMax) throw damaged(from, 'the tree is too deep')
      const page = await this.#read(id, from)
      if (page.isLeaf) {
        const elements = leafElements(page)
        if (elements.length === 0) continue
        requireOrder(elements, last)
        // A copy, because a key must not keep its page in memory.
        last = Buffer.from(elements.at(-1)?.key ?? [])
        yield elements
        continue
      }
      const children = branchChildren(page).map((child) => this.#idOf(child, id))
      for (const child of children.toReversed())
        ahead.push({ id: child, from: id, depth: depth + 1 })
    }
  }

  /** Reads a page with its overflow. `from` is the page that names it. */
  async #read(id: number, from: number): Promise<Page> {
    const { pageBytes } = this.#meta
    const head = await readExactly(this.#file, id * pageBytes, pageHeaderBytes)
    if (head === undefined) throw damaged(id, 'it is missing')
    const header = readPageHeader(head)
    if (header.id !== BigInt(id)) throw damaged(id, `it says that it is page ${header.id}`)
    const { flags, count, overflow } = header
    if (flags !== pageFlags.leaf && flags !== pageFlags.branch) {
      throw damaged(id, `it is neither leaf nor branch, as page ${from} says`)
    }
    if (id + overflow >= this.#pages) throw damaged(id, 'it reaches beyond the end of the file')
    const size = (overflow + 1) * pageBytes
    if (size > pageRunBytesMax) throw damaged(id, `it has ${size} bytes, which is too large`)
    for (let each = id; each <= id + overflow; each += 1) this.#visit(each, from)
    const bytes = await readExactly(this.#file, id * pageBytes, size)
    if (bytes === undefined) throw damaged(id, 'it is cut off')
    return { id, isLeaf: flags === pageFlags.leaf, count, bytes }
  }

  #visit(id: number, from: number): void {
    const bit = 1 << (id & 7)
    const byte = this.#visited[id >> 3] ?? 0
    if (byte & bit) throw damaged(id, `a second page names it: page ${from}`)
    this.#visited[id >> 3] = byte | bit
  }

  #idOf(id: bigint, from: number): number {
    // The first two pages are metas.
    if (id >= 2n && id < BigInt(this.#pages)) return Number(id)
    throw damaged(from, `it names page ${id}, and the file has ${this.#pages}`)
  }
}

type LeafElement = PlacedElement & { readonly isBucket: boolean }

function leafElements(page: Page): LeafElement[] {
  const { id, count, bytes } = page
  return Array.from({ length: checkedCount(page) }, (_, index) => {
    const at = pageHeaderBytes + index * elementBytes
    const flags = bytes.readUInt32LE(at)
    if (flags > bucketFlag) throw damaged(id, `its element ${index} has unknown flags`)
    const keyAt = at + bytes.readUInt32LE(at + 4)
    const valueAt = keyAt + bytes.readUInt32LE(at + 8)
    const end = valueAt + bytes.readUInt32LE(at + 12)
    if (end > bytes.length || keyAt < pageHeaderBytes + count * elementBytes) {
      throw damaged(id, `its element ${index} does not stand within it`)
    }
    const key = bytes.subarray(keyAt, valueAt)
    return { key, value: bytes.subarray(valueAt, end), page: id, isBucket: flags === bucketFlag }
  })
}

function branchChildren(page: Page): bigint[] {
  if (page.count === 0) throw damaged(page.id, 'it is an empty branch')
  return Array.from({ length: checkedCount(page) }, (_, index) =>
    page.bytes.readBigUInt64LE(pageHeaderBytes + index * elementBytes + 8),
  )
}

function checkedCount({ id, count, bytes }: Page): number {
  if (pageHeaderBytes + count * elementBytes <= bytes.length) return count
  throw damaged(id, `it cannot hold ${count} elements`)
}

function requireOrder(elements: readonly LeafElement[], before: Buffer | undefined): void {
  let last = before
  for (const [index, { key, page }] of elements.entries()) {
    if (last && Buffer.compare(last, key) >= 0) {
      throw damaged(page, `its element ${index} is out of order`)
    }
    last = key
  }
}

/** The meta with the larger transaction that is intact. */
async function findMeta(file: FileHandle, bytes: number): Promise<Meta> {
  const first = await metaAt(file, 0)
  // The second one stands after one page, whose size only the first one tells.
  const sizes = first ? [first.pageBytes] : pageSizes()
  const seconds = await Promise.all(sizes.map((size) => metaAt(file, size)))
  const second = seconds.find((meta, index) => meta?.pageBytes === sizes[index])
  const newest = [first, second]
    .filter((meta) => meta !== undefined)
    .toSorted((a, b) => (a.transaction < b.transaction ? 1 : -1))[0]
  if (newest === undefined) throw new DamagedFileError('pages 0 and 1 are not metas of a database')
  if (!pageSizes().includes(newest.pageBytes)) {
    throw new DamagedFileError(`its pages have ${newest.pageBytes} bytes`)
  }
  if (bytes < 4 * newest.pageBytes)
    throw new DamagedFileError('it is cut off after its first pages')
  return newest
}

async function metaAt(file: FileHandle, position: number): Promise<Meta | undefined> {
  const bytes = await readExactly(file, position, pageHeaderBytes + metaBytes)
  if (bytes === undefined || readPageHeader(bytes).flags !== pageFlags.meta) return undefined
  return readMeta(bytes.subarray(pageHeaderBytes))
}

function pageSizes(): number[] {
  const sizes: number[] = []
  for (let size = pageBytesMin; size <= pageBytesMax; size *= 2) sizes.push(size)
  return sizes
}

/** Returns undefined if the file ends before. */
async function readExactly(
  file: FileHandle,
  position: number,
  length: number,
): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(length)
  for (let at = 0; at < length;) {
    const { bytesRead } = await file.read(bytes, at, length - at, position + at)
    if (bytesRead === 0) return undefined
    at += bytesRead
  }
  return bytes
}

function damaged(page: number, what: string): DamagedFileError {
  return new DamagedFileError(`page ${page}: ${what}`)
}
