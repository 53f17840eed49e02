const offset = 0x811c9dc5
const prime = 0x01000193

/** FNV-1 of 32 bits (draft-eastlake-fnv). */
export function fnv1(bytes: Uint8Array): number {
  let hash = offset
  for (const byte of bytes) hash = (Math.imul(hash, prime) ^ byte) >>> 0
  return hash
}

/** FNV-1a of 32 bits: the byte first, then the product. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = offset
  for (const byte of bytes) hash = Math.imul(hash ^ byte, prime) >>> 0
  return hash
}
