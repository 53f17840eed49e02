import { connect as connectTcp, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { checkServerIdentity, connect as connectTls } from 'node:tls'
import { withTimeout, type Clock } from '@skerry/base'
import { connectLimits } from '../../limits-table.ts'

/** The address of a node's kubelet. */
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
 * Connects the API server to programs on nodes. Replaced if a tunnel is the only way. Both methods
 * return a stream that is ready for HTTP/1.1, allows half-close, and belongs to the caller.
 */
export interface BackendDial {
  /** Dials a node's kubelet. The stream is encrypted, and the kubelet knows the server's identity. */
  dialNode(target: NodeTarget, signal: AbortSignal): Promise<Duplex>
  /** Dials a pod, or anything else with an address in the cluster's network. */
  dialAddress(target: AddressTarget, signal: AbortSignal): Promise<Duplex>
}

/** The way to nodes and pods, and the clock that bounds its use. */
export interface NodeAccess {
  readonly dial: BackendDial
  readonly clock: Pick<Clock, 'setTimer'>
}

export interface DirectDialOptions {
  /** The client certificate for kubelets, in PEM. */
  readonly certificatePem: string
  readonly privateKeyPem: string
  /**
   * The authority of kubelets' serving certificates, in PEM. If omitted, any certificate is
   * accepted, as upstream does by default.
   */
  readonly kubeletAuthorityPem?: string
}

export interface DirectDialDeps {
  readonly clock: Pick<Clock, 'setTimer'>
}

/** Dials straight over the network. The identity is read for each dial, because certificates are renewed. */
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
 * Requires that node's own certificate, with the name that signers of kubernetes.io/kubelet-serving
 * demand. A node that claims another's address, or this server's, must not pass as its kubelet.
 */
function identityOfNode(nodeName: string): typeof checkServerIdentity {
  return (host, certificate) => {
    if (certificate.subject?.CN === `system:node:${nodeName}`)
      return checkServerIdentity(host, certificate)
    return new Error(`its certificate is not of node ${JSON.stringify(nodeName)}`)
  }
}

/** A pod's certificate is not checked, because no authority for it is known. */
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
    // Idle sessions are normal; TCP itself detects a peer that vanished.
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
      // A late error of an abandoned stream must not crash the process.
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
