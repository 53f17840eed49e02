import { BlockList, isIP, type Socket } from 'node:net'
import type { Clock, Logger } from '@skerry/base'
import { onFirstBytes } from './first-bytes.ts'
import { parseProxyHeader, ProxyHeaderError } from './proxy-header.ts'

/** The addresses of proxies that are trusted to name the client's address. */
export interface TrustedProxies {
  has(address: string): boolean
}

/**
 * Parses addresses and ranges, e.g. 10.0.0.5 or 10.1.0.0/24. Throws a RangeError that names the
 * wrong one.
 */
export function trustedProxies(ranges: readonly string[]): TrustedProxies {
  const list = new BlockList()
  for (const range of ranges) {
    const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range) ?? []
    const version = isIP(address)
    const most = version === 4 ? 32 : 128
    const bits = prefix === undefined ? most : Number(prefix)
    if (version === 0 || bits > most || bits === 0) {
      throw new RangeError(
        `Cannot trust proxies at ${JSON.stringify(range)}: want an address or a range such as 10.1.0.0/24`,
      )
    }
    list.addSubnet(address, bits, familyOf(version))
  }
  return {
    has(address) {
      const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
      const version = isIP(plain)
      return version !== 0 && list.check(plain, familyOf(version))
    },
  }
}

function familyOf(version: number): 'ipv4' | 'ipv6' {
  return version === 4 ? 'ipv4' : 'ipv6'
}

export interface ProxyHeaderDeps {
  /** The time for the header to arrive; a proxy sends it before anything else. */
  readonly headerMs: number
  readonly clock: Pick<Clock, 'setTimer'>
  readonly log: Logger
}

/**
 * Takes the PROXY header off a connection that nobody has read from, and hands on the client's
 * address, or undefined if the proxy speaks for itself. Closes a connection without a header.
 */
export function takeProxyHeader(
  socket: Socket,
  { headerMs, clock, log }: ProxyHeaderDeps,
  onTaken: (address: string | undefined) => void,
): void {
  const refuse = (why: string): void => {
    log.info('Connection of a trusted proxy refused', { from: socket.remoteAddress ?? '', why })
    socket.destroy()
  }
  const onLate = (): void => refuse(`no PROXY header came in ${headerMs} ms`)
  onFirstBytes(socket, { ms: headerMs, clock, onLate }, (bytes, end) => {
    try {
      const header = parseProxyHeader(bytes)
      if (!header.isWhole) return
      end(bytes.subarray(header.bytes))
      onTaken(header.address)
    } catch (error) {
      if (!(error instanceof ProxyHeaderError)) throw error
      end(Buffer.alloc(0))
      refuse(error.message)
    }
  })
}
