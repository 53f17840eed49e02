import { open, type FileHandle } from 'node:fs/promises'
import { etcdSnapshotBounds } from '../limits-table.ts'
import {
  bucketBytes,
  bucketFlag,
  elementBytes,
  metaOf,
  pageFlags,
  pageHeaderBytes,
  writePageHeader,
} from './bolt-layout.ts'

const { bufferBytes } = etcdSnapshotBounds.boltWriter
const pageBytes = 4_096
/** Two metas and the empty free list. */
const firstTreePage = 3
const freelistPage = 2
/** Three keys fit into a page, so that each level of a tree is smaller than the one below. etcd's have 18 bytes. */
const keyBytesMax = 1_024

/**
 * Writes a bbolt file front to back, one bucket after another, each in the order of its keys. It keeps one page of each
 * level of one tree in memory. The metas come last, so that a file that was cut off is none.
 */
export class BoltWriter implements AsyncDisposable {
  readonly #file: FileHandle
  readonly #buckets: { name: Buffer; root: bigint }[] = []
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #written = 0
  #nextPage = firstTreePage

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** Creates the file, which nobody else may read. */
  static async create(path: string): Promise<BoltWriter> {
    return new BoltWriter(await open(path, 'wx+', 0o600))
  }

  /** Takes the elements of one bucket in ascending order of their keys. Buckets come in the order of their names. */
  async bucket(
    name: string,
    elements: AsyncIterable<TreeElement> | Iterable<TreeElement>,
  ): Promise<void> {
    const bytes = Buffer.from(name)
    const last = this.#buckets.at(-1)
    if (last && Buffer.compare(bytes, last.name) <= 0) throw new RangeError('buckets out of order')
    const root = await this.#tree(elements)
    this.#buckets.push({ name: bytes, root })
  }

  /** Writes the rest, and makes the file durable. Returns its size. */
  async finish(): Promise<number> {
    const buckets = this.#buckets.map(({ name, root }) => {
      const value = Buffer.alloc(bucketBytes)
      value.writeBigUInt64LE(root, 0)
      return { key: name, value, flags: bucketFlag }
    })
    const root = await this.#tree(buckets)
    await this.#flush()
    const pages = BigInt(this.#nextPage)
    const meta = { pageBytes, root, sequence: 0n, freelist: BigInt(freelistPage), pages }
    const head = Buffer.alloc(firstTreePage * pageBytes)
    for (const id of [0, 1]) {
      const page = head.subarray(id * pageBytes, (id + 1) * pageBytes)
      writePageHeader(page, { id: BigInt(id), flags: pageFlags.meta, count: 0, overflow: 0 })
      // bbolt writes transaction n into page n % 2.
      metaOf({ ...meta, transaction: BigInt(2 - id) }).copy(page, pageHeaderBytes)
    }
    const freelist = head.subarray(freelistPage * pageBytes)
    const id = BigInt(freelistPage)
    writePageHeader(freelist, { id, flags: pageFlags.freelist, count: 0, overflow: 0 })
    await this.#file.write(head, 0, head.length, 0)
    await this.#file.sync()
    return this.#nextPage * pageBytes
  }

  /** The open file, e.g. to compute its checksum. */
  get file(): FileHandle {
    return this.#file
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }

  async #tree(elements: AsyncIterable<TreeElement> | Iterable<TreeElement>): Promise<bigint> {
    const tree = new TreeBuilder((page) => this.#append(page))
    for await (const element of elements) {
      tree.put(element)
      if (this.#waitingBytes >= bufferBytes) await this.#flush()
    }
    return tree.finish()
  }

  /** Gives a page its number and queues it. */
  #append(page: Buffer): bigint {
    const id = this.#nextPage
    page.writeBigUInt64LE(BigInt(id), 0)
    this.#nextPage += page.length / pageBytes
    this.#waiting.push(page)
    this.#waitingBytes += page.length
    return BigInt(id)
  }

  async #flush(): Promise<void> {
    const pages = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    const position = firstTreePage * pageBytes + this.#written
    for (let at = 0; at < pages.length;) {
      const { bytesWritten } = await this.#file.write(pages, at, pages.length - at, position + at)
      at += bytesWritten
    }
    this.#written += pages.length
  }
}

export interface TreeElement {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly flags?: number
}

interface Level {
  readonly elements: LevelElement[]
  bytes: number
}

type LevelElement = TreeElement & { readonly child?: bigint }

/** Builds a tree from its leaves up: a page that is full is written, and its first key goes a level up. */
class TreeBuilder {
  readonly #append: (page: Buffer) => bigint
  /** The unfinished page of each level; the first is of leaves. */
  readonly #levels: Level[] = [emptyLevel()]
  #last: Uint8Array | undefined

  constructor(append: (page: Buffer) => bigint) {
    this.#append = append
  }

  put(element: TreeElement): void {
    const { key } = element
    if (key.length === 0 || key.length > keyBytesMax) {
      throw new RangeError(`Cannot write a key of ${key.length} bytes`)
    }
    if (this.#last && Buffer.compare(this.#last, key) >= 0) {
      throw new RangeError('Cannot write: keys are out of order')
    }
    this.#last = Uint8Array.from(key)
    this.#add(0, element)
  }

  finish(): bigint {
    for (let depth = 0; ; depth += 1) {
      const level = this.#levels[depth] ?? emptyLevel()
      const isTop = depth === this.#levels.length - 1
      if (isTop && (depth === 0 || level.elements.length > 1)) {
        return this.#append(pageOf(level, depth))
      }
      const [only] = level.elements
      if (isTop && only?.child !== undefined) return only.child
      if (level.elements.length > 0) this.#close(depth)
    }
  }

  #add(depth: number, element: LevelElement): void {
    const level = (this.#levels[depth] ??= emptyLevel())
    const size = elementBytes + element.key.length + element.value.length
    const isFull = pageHeaderBytes + level.bytes + size > pageBytes
    if (isFull && level.elements.length > 0) this.#close(depth)
    level.elements.push(element)
    level.bytes += size
  }

  #close(depth: number): void {
    const level = this.#levels[depth] ?? emptyLevel()
    const [first] = level.elements
    const child = this.#append(pageOf(level, depth))
    level.elements.length = 0
    level.bytes = 0
    if (first) this.#add(depth + 1, { key: first.key, value: noBytes, child })
  }
}

const noBytes = new Uint8Array(0)

function emptyLevel(): Level {
  return { elements: [], bytes: 0 }
}

function pageOf({ elements, bytes }: Level, depth: number): Buffer {
  const pages = Math.max(1, Math.ceil((pageHeaderBytes + bytes) / pageBytes))
  const page = Buffer.alloc(pages * pageBytes)
  const flags = depth === 0 ? pageFlags.leaf : pageFlags.branch
  writePageHeader(page, { id: 0n, flags, count: elements.length, overflow: pages - 1 })
  let data = pageHeaderBytes + elements.length * elementBytes
  for (const [index, { key, value, flags: kind = 0, child = 0n }] of elements.entries()) {
    const at = pageHeaderBytes + index * elementBytes
    if (depth === 0) {
      page.writeUInt32LE(kind, at)
      page.writeUInt32LE(data - at, at + 4)
      page.writeUInt32LE(key.length, at + 8)
      page.writeUInt32LE(value.length, at + 12)
    } else {
      page.writeUInt32LE(data - at, at)
      page.writeUInt32LE(key.length, at + 4)
      page.writeBigUInt64LE(child, at + 8)
    }
    page.set(key, data)
    page.set(value, data + key.length)
    data += key.length + value.length
  }
  return page
}
