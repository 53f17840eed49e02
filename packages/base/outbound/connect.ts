import type { Duplex } from 'node:stream'

/** Where a connection leads. An IPv6 address stands without brackets. */
export interface Destination {
  readonly host: string
  readonly port: number
}

/**
 * A way out: opens a stream of bytes to a destination. Rejects with a ConnectError that names the step
 * that failed, or with the signal's reason.
 */
export type Connect = (to: Destination, signal: AbortSignal) => Promise<Duplex>

/** No connection came about; the message says where, why, and what to do. */
export class ConnectError extends Error {
  override name = 'ConnectError'
  /** HTTP status when somebody on the way answered and refused for good: asking soon again is of no use. */
  readonly status?: number

  constructor(message: string, options: ErrorOptions & { status?: number } = {}) {
    super(message, options)
    if (options.status !== undefined) this.status = options.status
  }
}

const defaultPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'ws:': 80,
  'https:': 443,
  'wss:': 443,
}

/** Of a URL of HTTP or WebSocket, with or without TLS. */
export function destinationOf(url: URL): Destination {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: Number(url.port) || (defaultPorts[url.protocol] ?? 443) }
}

/** As in a URL: `hub.example:443`, `[2001:db8::1]:443`. */
export function hostAndPort({ host, port }: Destination): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
