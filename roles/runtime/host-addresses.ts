import { hostname, networkInterfaces } from 'node:os'
import { hostAndPort, ipv4Number, ipv4Text } from '@skerry/base'

/** The interfaces that the node itself creates: their addresses are not the machine's. */
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

/** Adds the IPv6 addresses at the end, without link-local ones. */
export function allHostAddresses(): string[] {
  const six = Object.entries(networkInterfaces()).flatMap(([name, infos]) =>
    ownInterfaces.test(name)
      ? []
      : (infos ?? []).flatMap(({ family, internal, scopeid, address }) =>
          family === 'IPv6' && !internal && scopeid === 0 ? [address] : [],
        ),
  )
  return [...hostAddresses(), ...six]
}

/** Returns every address of every interface of this machine, including bridges and the loopback. */
export function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((infos) =>
    (infos ?? []).map(({ address }) => address),
  )
}

/** Returns the URL at which other machines reach this one; the server's own address may be the loopback's. */
export function advertised(server: string): string {
  const [address] = allHostAddresses()
  if (address === undefined) return server
  return `https://${hostAndPort({ host: address, port: Number(new URL(server).port) || 443 })}`
}

/** An IPv6 address as certificates have it, also when it was given as in a URL. */
export function withoutBrackets(text: string): string {
  return text.replace(/^\[(.*)\]$/, '$1')
}

/** The nth address of a range, e.g. addressOf('10.43.0.0/16', 10) is 10.43.0.10. */
export function addressOf(cidr: string, index: number): string {
  const [base = ''] = cidr.split('/')
  return ipv4Text(ipv4Number(base) + index)
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
