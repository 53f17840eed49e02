/** The polynomial of CRC-32C (RFC 3720, section 12.1), reversed. */
const polynomial = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1
  return rest >>> 0
})

/** Computes CRC-32C, which node:zlib does not have, of bytes after those that gave `before`. */
export function castagnoli(bytes: Uint8Array, before = 0): number {
  let rest = ~before
  for (const byte of bytes) rest = (table[(rest ^ byte) & 0xff] ?? 0) ^ (rest >>> 8)
  return ~rest >>> 0
}
