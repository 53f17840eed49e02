import { BlockList, isIP, isIPv4 } from 'node:net'
import type { Destination } from './connect.ts'

/**
 * Returns true if NO_PROXY excludes the destination, as Go's programs read it, kubectl among them.
 * Entries are separated by commas or spaces: `*` is everything; an address; a range in CIDR
 * notation; `example.com` is that name and all below it, `.example.com` and `*.example.com` only
 * those below it. Each may end with `:port`. Destinations on this machine never use a proxy. Names
 * are not looked up.
 */
export function isProxyBypassed(to: Destination, noProxy: string): boolean {
  const host = to.host.toLowerCase().replace(/\.$/, '')
  if (host === 'localhost' || isLoopback(host)) return true
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== '' && matches(entry, { host, port: to.port }))
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLoopback(host: string): boolean {
  return isIP(host) !== 0 && loopback.check(host, familyOf(host))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}

function matches(entry: string, to: Destination): boolean {
  if (entry === '*') return true
  const { name, port } = partedEntry(entry)
  if (port !== undefined && port !== to.port) return false
  if (name.includes('/')) return isInRange(to.host, name)
  if (isIP(name) !== 0) return isSameAddress(to.host, name)
  const suffix = name.replace(/^\*?\./, '')
  if (suffix === '') return false
  return to.host.endsWith(`.${suffix}`) || (suffix === name && to.host === name)
}

/** Splits `host`, `host:port`, `[v6]`, `[v6]:port` or a bare IPv6 address. */
function partedEntry(entry: string): { name: string; port?: number } {
  const bracketed = /^\[(?<name>[^\]]+)\](?::(?<port>\d+))?$/.exec(entry)
  const plain = /^(?<name>[^:]+):(?<port>\d+)$/.exec(entry)
  const { name = entry, port } = (bracketed ?? plain)?.groups ?? {}
  return port === undefined ? { name } : { name, port: Number(port) }
}

function isInRange(host: string, range: string): boolean {
  const [base = '', bits = ''] = range.split('/')
  if (isIP(host) === 0 || isIP(base) === 0 || !/^\d{1,3}$/.test(bits)) return false
  const family = familyOf(base)
  if (Number(bits) > (family === 'ipv4' ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(base, Number(bits), family)
  return list.check(host, familyOf(host))
}

/** Compares regardless of spelling: 2001:db8::1 is 2001:0db8::0001. */
function isSameAddress(host: string, address: string): boolean {
  return isInRange(host, `${address}/${isIPv4(address) ? 32 : 128}`)
}
