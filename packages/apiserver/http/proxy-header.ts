import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/** The header of a connection, as far as it has arrived. */
export type ProxyHeader =
  | { readonly isWhole: false }
  | {
      readonly isWhole: true
      /** The length of the header. The client's bytes follow. */
      readonly bytes: number
      /** The client's address. Omitted if the proxy speaks for itself, as in its health checks. */
      readonly address?: string
    }

/** Reports that the bytes are not a header, or are of an unsupported type. */
export class ProxyHeaderError extends Error {
  override name = 'ProxyHeaderError'
}

/** PROXY protocol, section 2.2: twelve bytes that no other protocol begins with. */
const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const fixedBytes = 16
/** Further fields may follow the addresses; they are skipped. The format has room for 64 KiB. */
const binaryBytesMax = fixedBytes + 4_096
/** Section 2.1: the longest line, including its end. */
const lineBytesMax = 107
const lineBegin = Buffer.from('PROXY ', 'latin1')

/**
 * Reads the first bytes of a connection by the PROXY protocol, version 1 or 2: TCP over IPv4 and
 * IPv6, the proxy's own connections, and those of unknown clients. Throws ProxyHeaderError as soon
 * as the bytes cannot be a header.
 */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsWith(bytes, signature)) return parseBinary(bytes)
  if (beginsWith(bytes, lineBegin)) return parseLine(bytes)
  throw new ProxyHeaderError('Cannot read PROXY header: the connection does not begin with one')
}

/** Compares as many bytes as both have. */
function beginsWith(bytes: Buffer, begin: Buffer): boolean {
  const length = Math.min(bytes.length, begin.length)
  return bytes.compare(begin, 0, length, 0, length) === 0
}

const tooLong = (): ProxyHeaderError =>
  new ProxyHeaderError('Cannot read PROXY header: it is too long')

function parseLine(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, lineBytesMax).indexOf('\r\n')
  if (end < 0) {
    if (bytes.length >= lineBytesMax) throw tooLong()
    return { isWhole: false }
  }
  const whole = { isWhole: true, bytes: end + 2 } as const
  const line = bytes.toString('latin1', 0, end)
  // The protocol says to ignore the rest of the line.
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return whole
  const [, family, from = '', to = '', ...ports] =
    /^PROXY (TCP4|TCP6) (\S+) (\S+) (\d+) (\d+)$/.exec(line) ?? []
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6
  const isGood = family !== undefined && isAddress(from) && isAddress(to) && ports.every(isPort)
  if (!isGood || from.includes('%')) {
    throw new ProxyHeaderError('Cannot read PROXY header: its line is not of version 1')
  }
  return { ...whole, address: canonical(from, family === 'TCP4' ? 'ipv4' : 'ipv6') }
}

function isPort(text: string): boolean {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535
}

/** The two addresses and ports have this many bytes, by version, command, family and protocol. */
const tcpOverIpv4 = 0x11
const tcpOverIpv6 = 0x21
const addressBytes: Readonly<Record<number, number>> = Object.freeze({
  [tcpOverIpv4]: 12,
  [tcpOverIpv6]: 36,
})
const local = 0x20
const proxied = 0x21

function parseBinary(bytes: Buffer): ProxyHeader {
  if (bytes.length < fixedBytes) return { isWhole: false }
  const command = bytes.readUInt8(12)
  const family = bytes.readUInt8(13)
  const length = bytes.readUInt16BE(14)
  const total = fixedBytes + length
  if (total > binaryBytesMax) throw tooLong()
  if (command !== local && command !== proxied) {
    throw new ProxyHeaderError('Cannot read PROXY header: it is of another version')
  }
  const needed = addressBytes[family]
  const isUnknown = command === local || family === 0
  if (!isUnknown && (needed === undefined || length < needed)) {
    throw new ProxyHeaderError('Cannot read PROXY header: it names no TCP addresses')
  }
  if (bytes.length < total) return { isWhole: false }
  if (isUnknown) return { isWhole: true, bytes: total }
  return { isWhole: true, bytes: total, address: addressAt(bytes, family) }
}

function addressAt(bytes: Buffer, family: number): string {
  if (family === tcpOverIpv4) return bytes.subarray(fixedBytes, fixedBytes + 4).join('.')
  const raw = bytes.toString('hex', fixedBytes, fixedBytes + 16)
  return canonical((raw.match(/.{4}/g) ?? []).join(':'), 'ipv6')
}

/** Normalizes an address, so that it can be compared and logged. */
function canonical(address: string, family: 'ipv4' | 'ipv6'): string {
  return new SocketAddress({ address, family }).address
}
