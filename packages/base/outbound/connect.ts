import type { Duplex } from 'node:stream'

/** The destination of a connection. An IPv6 address has no brackets. */
export interface Destination {
  readonly host: string
  readonly port: number
}

/**
 * Opens a stream of bytes to a destination. Rejects with a ConnectError that names the failed step,
 * or with the signal's reason.
 */
export type Connect = (to: Destination, signal: AbortSignal) => Promise<Duplex>

/** Reports that a connection failed. The message says where, why, and what to do. */
export class ConnectError extends Error {
  override name = 'ConnectError'
  /** The HTTP status if a server on the way refused permanently, so that retrying soon is useless. */
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

/** Returns the destination of an HTTP or WebSocket URL, with or without TLS. */
export function destinationOf(url: URL): Destination {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: Number(url.port) || (defaultPorts[url.protocol] ?? 443) }
}

/** Formats a destination as in a URL: `hub.example:443`, `[2001:db8::1]:443`. */
export function hostAndPort({ host, port }: Destination): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
