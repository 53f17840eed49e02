import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import { smallPng } from './small-png.ts'

/** Encodes pixels with a filter for each row, as browsers do. */
function pngOf(width: number, rows: readonly (readonly number[])[]): Buffer {
  const part = (type: string, data: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type), data])
    const numbers = Buffer.alloc(8)
    numbers.writeUInt32BE(data.length, 0)
    numbers.writeUInt32BE(crc32(named), 4)
    return Buffer.concat([numbers.subarray(0, 4), named, numbers.subarray(4)])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(rows.length, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const data = deflateSync(Buffer.from(rows.flat()))
  const end = part('IEND', Buffer.alloc(0))
  return Buffer.concat([signature, part('IHDR', header), part('IDAT', data), end])
}

test('a picture of few colours keeps each of them, whatever the filters of its rows', () => {
  // Two pixels a row: by none, left, up, average and Paeth, all of the same red and blue.
  const rows = [
    [0, 200, 0, 0, 0, 0, 200],
    [1, 200, 0, 0, 56, 0, 200],
    [2, 0, 0, 0, 0, 0, 0],
    [3, 100, 0, 0, 156, 0, 100],
    [4, 0, 0, 0, 0, 0, 0],
  ]
  const small = smallPng(pngOf(2, rows))
  const again = smallPng(
    pngOf(
      2,
      rows.map(() => [0, 200, 0, 0, 0, 0, 200]),
    ),
  )
  assert.deepEqual(small, again)
  const palette = small.indexOf('PLTE')
  assert.equal(small.readUInt32BE(palette - 4), 6)
  assert.deepEqual([...small.subarray(palette + 4, palette + 10)], [200, 0, 0, 0, 0, 200])
})

test('anything but a picture of that kind is refused', () => {
  assert.throws(() => smallPng(Buffer.from('GIF89a…')), /not a PNG/)
})
