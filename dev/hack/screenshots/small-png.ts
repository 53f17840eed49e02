/** Makes a small picture of a screenshot: at most 256 colours, each kept or replaced by the nearest frequent one. Pure. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

interface Pixels {
  readonly width: number
  readonly height: number
  /** Red, green and blue of each pixel as one number. */
  readonly colours: Uint32Array
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const paletteMax = 256
/** Colours that share the upper three bits of red, green and blue are of one kind. */
const kindMask = 0xe0e0e0
/** How a PNG names its pixels. */
const colourTypes = { rgb: 2, palette: 3, rgba: 6 }

/** Takes a PNG with eight bits for each of red, green and blue, and perhaps alpha, which is dropped. */
export function smallPng(png: Buffer): Buffer {
  const { width, height, colours } = readPixels(png)
  const palette = frequentColours(colours)
  const nearest = nearestIn(palette)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      rows[y * (width + 1) + 1 + x] = nearest(colours[y * width + x] ?? 0)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, colourTypes.palette, 0, 0, 0], 8)
  const entries = Buffer.from(palette.flatMap(partsOf))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', entries),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

function readPixels(png: Buffer): Pixels {
  if (!png.subarray(0, 8).equals(signature)) throw new TypeError('Cannot read picture: not a PNG')
  const data: Buffer[] = []
  let header = Buffer.alloc(13)
  for (let at = 8; at + 8 <= png.length;) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') header = Buffer.from(body)
    if (type === 'IDAT') data.push(body)
    at += length + 12
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const colourType = header[9]
  if (header[8] !== 8 || (colourType !== colourTypes.rgb && colourType !== colourTypes.rgba)) {
    throw new TypeError(`Cannot read picture: its colour type is ${colourType}`)
  }
  const each = colourType === colourTypes.rgb ? 3 : 4
  const bytes = unfilter(inflateSync(Buffer.concat(data)), { width, height, each })
  const colours = new Uint32Array(width * height)
  for (let pixel = 0; pixel < colours.length; pixel += 1) {
    const at = pixel * each
    colours[pixel] = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
  }
  return { width, height, colours }
}

/** Undoes the filters of the rows (PNG, section 9). `each` is the number of bytes of a pixel. */
function unfilter(
  filtered: Buffer,
  { width, height, each }: { width: number; height: number; each: number },
): Buffer {
  const rowBytes = width * each
  const bytes = Buffer.alloc(rowBytes * height)
  for (let y = 0; y < height; y += 1) {
    const filter = filtered[y * (rowBytes + 1)] ?? 0
    for (let x = 0; x < rowBytes; x += 1) {
      const at = y * rowBytes + x
      const left = x < each ? 0 : (bytes[at - each] ?? 0)
      const up = y === 0 ? 0 : (bytes[at - rowBytes] ?? 0)
      const corner = x < each || y === 0 ? 0 : (bytes[at - rowBytes - each] ?? 0)
      const raw = filtered[y * (rowBytes + 1) + 1 + x] ?? 0
      bytes[at] = raw + (predictions[filter] ?? paeth)(left, up, corner)
    }
  }
  return bytes
}

const predictions: readonly ((left: number, up: number, corner: number) => number)[] = [
  () => 0,
  (left) => left,
  (_left, up) => up,
  (left, up) => (left + up) >> 1,
  paeth,
]

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const byLeft = Math.abs(guess - left)
  const byUp = Math.abs(guess - up)
  const byCorner = Math.abs(guess - corner)
  if (byLeft <= byUp && byLeft <= byCorner) return left
  return byUp <= byCorner ? up : corner
}

/**
 * Chooses the colours that stay: the most frequent one of each kind of colour first, so that a rare one does not lose its
 * hue to the many shades of letters.
 */
function frequentColours(colours: Uint32Array): number[] {
  const counts = new Map<number, number>()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const byCount = [...counts].toSorted(([, a], [, b]) => b - a).map(([colour]) => colour)
  const kinds = new Map<number, number>()
  for (const colour of byCount) {
    if (!kinds.has(colour & kindMask)) kinds.set(colour & kindMask, colour)
  }
  return [...new Set([...kinds.values(), ...byCount])].slice(0, paletteMax)
}

/** Returns a function that finds the place of the nearest colour in the palette. */
function nearestIn(palette: readonly number[]): (colour: number) => number {
  const known = new Map(palette.map((colour, at) => [colour, at]))
  return (colour) => {
    const found = known.get(colour)
    if (found !== undefined) return found
    let best = 0
    for (const [at, other] of palette.entries()) {
      if (distance(colour, other) < distance(colour, palette[best] ?? 0)) best = at
    }
    known.set(colour, best)
    return best
  }
}

function partsOf(colour: number): [number, number, number] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255]
}

function distance(one: number, other: number): number {
  const [red, green, blue] = partsOf(one)
  const [otherRed, otherGreen, otherBlue] = partsOf(other)
  return (red - otherRed) ** 2 + (green - otherGreen) ** 2 + (blue - otherBlue) ** 2
}
