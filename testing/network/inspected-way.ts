import type { Duplex } from 'node:stream'
import { TLSSocket, connect as connectTls, createSecureContext } from 'node:tls'
import { systemClock } from '@skerry/base'
import { issueServingCertificate } from '@skerry/bootstrap'
import type { Authority } from '@skerry/pki'

/** The parts with which a box intercepts TLS, and what it has read. */
export interface Inspection {
  /** Signs certificates for the requested names. */
  readonly authority: Authority
  /** All bytes that passed inside TLS, both ways. */
  readonly read: Buffer[]
  /** The bytes that clients sent, by connection. */
  readonly sent?: Buffer[][]
  /** Changes bytes on their way to the server. */
  change?: (chunk: Buffer) => Buffer
}

export interface InspectedWay {
  near: Duplex
  far: Duplex
  host: string
  keep: (socket: Duplex) => void
}

/** Ends TLS and starts it again: no client certificate passes, and neither end sees the other's. */
export async function openInspectedWay(
  { near, far, host, keep }: InspectedWay,
  { authority, read, sent, change = (chunk) => chunk }: Inspection,
): Promise<void> {
  const isAddress = /^[\d.]+$|:/.test(host)
  const names = isAddress ? { ipAddresses: [host] } : { dnsNames: [host] }
  const issued = await issueServingCertificate(
    authority,
    { commonName: host, dnsNames: [], ipAddresses: [], ...names },
    systemClock,
  )
  const secureContext = createSecureContext({
    cert: issued.certificatePem,
    key: issued.privateKeyPem,
  })
  const client = new TLSSocket(near, { isServer: true, secureContext })
  const server = connectTls({ socket: far, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  keep(client)
  keep(server)
  const own: Buffer[] = []
  sent?.push(own)
  client.on('data', (chunk: Buffer) => {
    read.push(chunk)
    own.push(chunk)
    server.write(change(chunk))
  })
  server.on('data', (chunk: Buffer) => {
    read.push(chunk)
    client.write(chunk)
  })
  client.once('close', () => server.destroy())
  server.once('close', () => client.destroy())
}
