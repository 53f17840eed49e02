import type { Random } from '@skerry/base'

/** The empty SETTINGS frame with which each end of HTTP/2 begins. */
export const settingsFrame = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])

/** HPACK without its tables: each header as two literals (RFC 7541, 6.2.2). */
function headerBlock(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const text = (value: string): Buffer =>
    Buffer.concat([Buffer.of(value.length), Buffer.from(value, 'latin1')])
  return Buffer.concat(
    fields.map(([name, value]) => Buffer.concat([Buffer.of(0), text(name), text(value)])),
  )
}

const h2Fields: readonly (readonly [name: string, value: string])[] = [
  [':status', '600'],
  [':status', '100'],
  [':status', '99'],
  ['content-length', '5'],
  ['content-type', 'text/html'],
  ['content-type', 'application/grpc'],
  ['connection', 'x'],
  ['te', 'gzip'],
  ['trailer', 'x'],
  ['location', '/a'],
  ['location', '/b'],
  ['set-cookie', 'a=b'],
  ['X-Upper', 'a'],
  ['x', 'a\r\nb'],
  ['__proto__', 'a'],
  ['grpc-status', '0'],
]

/** Returns a random frame for the first stream, mostly HEADERS or DATA (RFC 9113, 4.1). */
export function oddFrame(random: Random): Buffer {
  const draw = random.next()
  const type = draw < 0.5 ? 1 : draw < 0.8 ? 0 : Math.floor(random.next() * 10)
  const status = String([200, 204, 205, 304, 503][Math.floor(random.next() * 5)])
  const more = h2Fields.filter(() => random.next() < 0.12)
  const head = random.next() < 0.7 ? [[':status', status] as const, ...more] : more
  const payload = type === 1 ? headerBlock(head) : Buffer.alloc(Math.floor(random.next() * 12), 1)
  const flags = type === 1 ? 4 + Math.floor(random.next() * 2) : Math.floor(random.next() * 2)
  return Buffer.concat([Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, 1]), payload])
}
