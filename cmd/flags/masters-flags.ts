import { InvalidArgumentError } from 'commander'
import { parseEndpoint } from '../../roles/admin/control-plane-endpoint.ts'

const stores = { sqlite: 'SQLite', etcd: 'Etcd' } as const

/** Parses the word for the store of a cluster. */
export function toStore(text: string): 'SQLite' | 'Etcd' {
  if (text === 'sqlite' || text === 'etcd') return stores[text]
  throw new InvalidArgumentError('give sqlite or etcd')
}

/** Parses `address[:port]`; the hub judges both. */
export function toBalancer(text: string): { readonly address: string; readonly port?: number } {
  const [, address, port] = /^([^:\s]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (address === undefined) {
    throw new InvalidArgumentError('give an address or a name, and a port, e.g. 10.0.0.9:6443')
  }
  return { address, ...(port === undefined ? {} : { port: Number(port) }) }
}

/** Parses the address before the masters of a site. */
export function toEndpoint(text: string): string {
  const endpoint = parseEndpoint(text)
  if (endpoint !== undefined) return endpoint
  throw new InvalidArgumentError('give a host and a port, e.g. 10.0.0.9 or api.example.com:443')
}
