import { BlockList, isIPv4 } from 'node:net'
import { checkDnsSubdomain } from '@skerry/api'

/** Addresses that the operator of an edge lets the hub dial. */
export interface AllowedDial {
  /** An IPv4 address, the first address of a network, or a DNS name. Names are compared as text. */
  readonly host: string
  /** The bits of the network. If omitted, the host alone. */
  readonly bits?: number
  readonly port: number
}

/** An address that the hub asks an agent to dial. */
export interface DialAddress {
  /** An IPv4 address or a DNS name. */
  readonly address: string
  readonly port: number
}

/** Parses `10.0.0.21:22`, `10.0.0.0/24:22` or `pos-1.shop:22`. Returns undefined for any other text. */
export function parseAllowedDial(text: string): AllowedDial | undefined {
  const [, host = '', bits, port = ''] = /^([^/:]+)(?:\/(\d{1,2}))?:(\d{1,5})$/.exec(text) ?? []
  const dial = dialAddressOf(host, port)
  if (dial === undefined) return undefined
  if (bits === undefined) return { host, port: dial.port }
  if (!isIPv4(host) || Number(bits) < 8 || Number(bits) > 32) return undefined
  return { host, bits: Number(bits), port: dial.port }
}

/** Returns undefined unless host is an IPv4 address or a DNS name in lower case, and port a number from 1 to 65535. */
export function dialAddressOf(host: string, port: string): DialAddress | undefined {
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) return undefined
  // Some resolvers read 0x7f.1 and 127.1 as addresses.
  const looksLikeAddress = /^(\d+|0x[\da-f]*)$/.test(host.split('.').at(-1) ?? '')
  const isHost = isIPv4(host) || (!looksLikeAddress && checkDnsSubdomain(host).length === 0)
  return isHost ? { address: host, port: Number(port) } : undefined
}

export function dialText({ address, port }: DialAddress): string {
  return `${address}:${port}`
}

/** Reports whether one of these allows the address. */
export function coversDial(
  allowed: readonly AllowedDial[],
  { address, port }: DialAddress,
): boolean {
  return allowed.some((each) => each.port === port && coversHost(each, address))
}

function coversHost({ host, bits }: AllowedDial, address: string): boolean {
  if (bits === undefined || !isIPv4(address)) return host === address
  const network = new BlockList()
  network.addSubnet(host, bits, 'ipv4')
  return network.check(address, 'ipv4')
}
