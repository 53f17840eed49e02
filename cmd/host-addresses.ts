import { hostname, networkInterfaces } from 'node:os'

/** Interfaces that the node itself makes: their addresses are not the machine's. */
const ownInterfaces = /^(skerry|veth|cni|docker|br-|flannel|vxlan)/

/** The machine's IPv4 addresses, without loopback; the one of the first interface first. */
export function hostAddresses(): string[] {
  return Object.entries(networkInterfaces()).flatMap(([name, infos]) =>
    ownInterfaces.test(name)
      ? []
      : (infos ?? []).flatMap((info) =>
          info.family === 'IPv4' && !info.internal ? [info.address] : [],
        ),
  )
}

/** As other machines reach this one; the server's own address may be the loopback's. */
export function advertised(server: string): string {
  const [address] = hostAddresses()
  if (address === undefined) return server
  return `https://${address}:${new URL(server).port}`
}

/** The nth address of a range, e.g. addressOf('10.43.0.0/16', 10) is 10.43.0.10. */
export function addressOf(cidr: string, index: number): string {
  const [base = ''] = cidr.split('/')
  const value = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) + index
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}

/** The machine's own name as a node's name: lower case, without what names may not have. */
export function defaultNodeName(): string {
  return hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
}

/** An IP address, not a name. */
export function isAddress(text: string): boolean {
  return /^[\d.]+$/.test(text) || text.includes(':')
}
