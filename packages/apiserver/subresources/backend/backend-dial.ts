import { connect as connectTcp, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { checkServerIdentity, connect as connectTls } from 'node:tls'
import { withTimeout, type Clock } from '@skerry/base'
import { connectLimits } from './connect-limits-table.ts'

/** Where a node's kubelet listens. */
export interface NodeTarget {
  readonly nodeName: string
  readonly host: string
  readonly port: number
}

export interface AddressTarget {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
}

/**
 * How the API server reaches what runs on nodes. Replaced where there is no way but a tunnel. Both
 * give a stream that is ready for HTTP/1.1, allows half-close, and belongs to the caller.
 */
export interface BackendDial {
  /** To a node's kubelet; the stream is encrypted and the server's identity is known to the kubelet. */
  dialNode(target: NodeTarget, signal: AbortSignal): Promise<Duplex>
  /** To a pod or anything else with an address in the cluster's network. */
  dialAddress(target: AddressTarget, signal: AbortSignal): Promise<Duplex>
}

/** The way to nodes and pods, and the clock that bounds its use. */
export interface NodeAccess {
  readonly dial: BackendDial
  readonly clock: Pick<Clock, 'setTimer'>
}

export interface DirectDialOptions {
  /** Shown to kubelets; PEM. */
  readonly certificatePem: string
  readonly privateKeyPem: string
  /** The authority that kubelets' serving certificates must be of; PEM. Absent: any is taken, as upstream does by default. */
  readonly kubeletAuthorityPem?: string
}

export interface DirectDialDeps {
  readonly clock: Pick<Clock, 'setTimer'>
}

/** Straight over the network. The identity is asked for at each dial: certificates are renewed. */
export function createDirectDial(
  identity: () => DirectDialOptions,
  deps: DirectDialDeps,
): BackendDial {
  return {
    dialNode: ({ nodeName, host, port }, signal) =>
      dial({ host, port, ...deps }, signal, (socket) => {
        const { certificatePem: cert, privateKeyPem: key, kubeletAuthorityPem: ca } = identity()
        return connectTls({
          socket,
          cert,
          key,
          ...serverNameOf(host),
          ...(ca === undefined
            ? { rejectUnauthorized: false }
            : { ca, host, checkServerIdentity: identityOfNode(nodeName) }),
          ALPNProtocols: ['http/1.1'],
        })
      }),
    dialAddress: ({ host, port, isTls }, signal) =>
      dial({ host, port, ...deps }, signal, isTls ? anyServer(host) : undefined),
  }
}

/**
 * The certificate must be that node's, by the name that signers of kubernetes.io/kubelet-serving demand: a node that
 * names another's address, or this server's own, as its own does not make them its kubelet.
 */
function identityOfNode(nodeName: string): typeof checkServerIdentity {
  return (host, certificate) => {
    if (certificate.subject?.CN === `system:node:${nodeName}`)
      return checkServerIdentity(host, certificate)
    return new Error(`its certificate is not of node ${JSON.stringify(nodeName)}`)
  }
}

/** A pod's certificate is its own affair: nobody told us whom to trust for it. */
function anyServer(host: string): (socket: Socket) => Duplex {
  return (socket) =>
    connectTls({
      socket,
      rejectUnauthorized: false,
      ...serverNameOf(host),
      ALPNProtocols: ['http/1.1'],
    })
}

/** TLS sends names, never addresses. */
function serverNameOf(host: string): { servername?: string } {
  return /^[0-9.]+$|:/.test(host) ? {} : { servername: host }
}

async function dial(
  { clock, ...address }: DirectDialDeps & { host: string; port: number },
  signal: AbortSignal,
  secure?: (socket: Socket) => Duplex,
): Promise<Duplex> {
  const { dialTimeoutMs: ms } = connectLimits
  const message = `dial tcp ${address.host}:${address.port}: no answer in ${ms} ms`
  return withTimeout({ ms, message, clock }, signal, async (scope) => {
    const socket = connectTcp({ ...address, allowHalfOpen: true, noDelay: true })
    // Idle sessions are normal; a peer that vanished is found by TCP itself.
    socket.setKeepAlive(true, connectLimits.keepAliveMs)
    await once(socket, 'connect', scope)
    if (!secure) return socket
    const secured = secure(socket)
    await once(secured, 'secureConnect', scope)
    return secured
  })
}

function once(stream: Duplex, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown): void => {
      stream.off(event, onReady).off('error', settle)
      signal.removeEventListener('abort', onAbort)
      if (error === undefined) return resolve()
      // A late error of a stream that nobody waits for any more must not crash the process.
      stream.on('error', () => undefined).destroy()
      reject(error)
    }
    const onReady = (): void => settle()
    const onAbort = (): void => settle(signal.reason)
    stream.once(event, onReady).once('error', settle)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
