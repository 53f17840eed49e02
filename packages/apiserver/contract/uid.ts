import type { Random } from '@skerry/base'

/** RFC 4122 version 4. */
export function newUid(random: Random): string {
  const bytes = random.bytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  const [time, version] = [hex.slice(0, 12), hex.slice(12, 16)]
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
