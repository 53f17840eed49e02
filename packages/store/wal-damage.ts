import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const headerSize = 32
const frameHeaderSize = 24
/** The last bit says in which order of bytes the checksums are (SQLite's file format, section 4.1). */
const magic = 0x377f0682

type Sum = readonly [number, number]

/**
 * Finds damage in a write-ahead log that SQLite itself would pass over: at the first frame that is not as it was
 * written it takes the log for ended, and changes after that, which were acknowledged, would be gone in silence. A
 * frame that a power cut tore belongs to the last transaction, because each is synced before the next begins; so it is
 * damage if a later transaction follows. Returns what is damaged, or undefined.
 *
 * The log must be that of one process: openStoreFile empties it at each start.
 */
export function walDamage(path: string): string | undefined {
  const file = openIfThere(path)
  if (file === undefined) return undefined
  try {
    const { size } = fstatSync(file)
    const header = Buffer.alloc(headerSize)
    if (readSync(file, header, 0, headerSize, 0) < headerSize) return undefined
    const pageBytes = header.readUInt32BE(8)
    if (!isIntactHeader(header)) {
      // It is synced before the first frame is written.
      return size > headerSize ? 'the header of its log' : undefined
    }
    return damageOfFrames(file, { header, pageBytes, size })
  } finally {
    closeSync(file)
  }
}

function damageOfFrames(
  file: number,
  { header, pageBytes, size }: { header: Buffer; pageBytes: number; size: number },
): string | undefined {
  const isBigEndian = (header.readUInt32BE(0) & 1) === 1
  const frame = Buffer.alloc(frameHeaderSize + pageBytes)
  let sum: Sum = [header.readUInt32BE(24), header.readUInt32BE(28)]
  let bad: number | undefined
  let endsAfterBad = 0
  for (let at = headerSize, count = 1; at + frame.length <= size; at += frame.length, count += 1) {
    readSync(file, frame, 0, frame.length, at)
    const hasSalts = frame.compare(header, 16, 24, 8, 16) === 0
    const stored: Sum = [frame.readUInt32BE(16), frame.readUInt32BE(20)]
    const computed = add(
      add(sum, frame, [0, 8], isBigEndian),
      frame,
      [24, frame.length],
      isBigEndian,
    )
    const isIntact = hasSalts && computed[0] === stored[0] && computed[1] === stored[1]
    const isEnd = frame.readUInt32BE(4) !== 0
    if (bad === undefined && !isIntact) {
      bad = count
      // The rest of its header may say that the transaction ends here.
      endsAfterBad = hasSalts && isEnd ? 1 : 0
    } else if (bad !== undefined && isIntact && isEnd) endsAfterBad += 1
    if (bad !== undefined && endsAfterBad > 1) return `frame ${bad} of its log`
    sum = stored
  }
  return undefined
}

function isIntactHeader(header: Buffer): boolean {
  if ((header.readUInt32BE(0) & ~1) >>> 0 !== magic) return false
  const pageBytes = header.readUInt32BE(8)
  if (pageBytes < 512 || pageBytes > 65_536) return false
  const [first, second] = add([0, 0], header, [0, 24], (header.readUInt32BE(0) & 1) === 1)
  return header.readUInt32BE(24) === first && header.readUInt32BE(28) === second
}

function add(
  [first, second]: Sum,
  bytes: Buffer,
  [from, to]: readonly [number, number],
  isBigEndian: boolean,
): Sum {
  let a = first
  let b = second
  for (let at = from; at < to; at += 8) {
    a = (a + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0
    b = (b + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0
  }
  return [a, b]
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
