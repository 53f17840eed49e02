import { isIPv4 } from 'node:net'

/** Returns the 4 or 16 bytes of an address that isIP() accepts, in whatever spelling, without a zone. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The URL parser expands mixed forms to hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const [before, after] = [groupBytes(head), groupBytes(tail ?? '')]
  const missing = 16 - before.length - after.length
  return Buffer.concat([before, Buffer.alloc(missing), after])
}

function groupBytes(text: string): Buffer {
  const groups = text === '' ? [] : text.split(':')
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
