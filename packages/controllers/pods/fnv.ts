const offset = 0x811c9dc5
const prime = 0x01000193

/** Computes 32-bit FNV-1 (draft-eastlake-fnv). */
export function fnv1(bytes: Uint8Array): number {
  let hash = offset
  for (const byte of bytes) hash = (Math.imul(hash, prime) ^ byte) >>> 0
  return hash
}

/** Computes 32-bit FNV-1a: the byte first, then the product. */
export function fnv1a(bytes: Uint8Array): number {
  let hash = offset
  for (const byte of bytes) hash = Math.imul(hash ^ byte, prime) >>> 0
  return hash
}

const wideOffset = 0x6c62272e07bb014262b821756295c58dn
const widePrime = 0x0000000001000000000000000000013bn

/** Computes 128-bit FNV-1a, as 32 hexadecimal digits. */
export function fnv128a(bytes: Uint8Array): string {
  let hash = wideOffset
  for (const byte of bytes) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * widePrime)
  return hash.toString(16).padStart(32, '0')
}
