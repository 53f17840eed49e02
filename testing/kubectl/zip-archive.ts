import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'

const inflate = promisify(inflateRaw)

/** One file of a zip archive. Directories have no bytes and a name that ends in a slash. */
export interface ZipEntry {
  name: string
  read(): Promise<Uint8Array>
}

const endSignature = 0x06054b50
const centralSignature = 0x02014b50
const stored = 0
const deflated = 8

/**
 * The entries of a zip archive, by its central directory (PKWARE APPNOTE 6.3, sections 4.3 and
 * 4.4). Without zip64, encryption or other methods than deflate: they are refused.
 */
export function readZip(archive: Buffer): ZipEntry[] {
  const end = findEnd(archive)
  const count = archive.readUInt16LE(end + 10)
  let at = archive.readUInt32LE(end + 16)
  const entries: ZipEntry[] = []
  for (let index = 0; index < count; index++) {
    if (archive.readUInt32LE(at) !== centralSignature) {
      throw new Error(`Cannot read zip archive: no directory entry at byte ${at}`)
    }
    const nameLength = archive.readUInt16LE(at + 28)
    const header = {
      name: archive.toString('utf8', at + 46, at + 46 + nameLength),
      method: archive.readUInt16LE(at + 10),
      compressedBytes: archive.readUInt32LE(at + 20),
      offset: archive.readUInt32LE(at + 42),
    }
    entries.push({ name: header.name, read: () => readEntry(archive, header) })
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return entries
}

/** The end record is 22 bytes and a comment, so it is looked for from the end. */
function findEnd(archive: Buffer): number {
  for (let at = archive.length - 22; at >= 0; at--) {
    if (archive.readUInt32LE(at) === endSignature) return at
  }
  throw new Error('Cannot read zip archive: it has no end record')
}

interface EntryHeader {
  name: string
  method: number
  compressedBytes: number
  offset: number
}

async function readEntry(archive: Buffer, header: EntryHeader): Promise<Uint8Array> {
  const { offset, compressedBytes } = header
  const start = offset + 30 + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28)
  const bytes = archive.subarray(start, start + compressedBytes)
  if (header.method === stored) return bytes
  if (header.method === deflated) return inflate(bytes)
  throw new Error(`Cannot read ${header.name}: compression method ${header.method} is not known`)
}
