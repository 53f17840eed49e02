import { whenSilent, type Clock } from '@skerry/base'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { readFile } from 'node:fs/promises'
import { serviceProxyBounds } from '../limits-table.ts'

/** Forwards a query byte for byte, and returns the answer. */
export interface Forwarder {
  /** Rejects if no resolver answered in time. */
  forward(query: Buffer, isTcp: boolean): Promise<Buffer>
}

const { answerMsMax, resolversMax, idBytes } = serviceProxyBounds.forwarder

/**
 * `resolvers` are IPv4 addresses, asked in order. They must not include our own address, because a
 * loop would exhaust the node.
 */
export function createForwarder(
  resolvers: readonly string[],
  { clock }: { readonly clock: Pick<Clock, 'setTimer'> },
  port = 53,
): Forwarder {
  return {
    async forward(query, isTcp) {
      let lastError: unknown = new Error('Cannot resolve: this node has no resolvers')
      for (const resolver of resolvers.slice(0, resolversMax)) {
        try {
          const asked = { resolver, port, clock }
          return await (isTcp ? askByTcp(query, asked) : askByUdp(query, asked))
        } catch (error) {
          lastError = error
        }
      }
      throw lastError
    },
  }
}

/** Returns the resolvers that the node itself uses, without excluded ones. */
export async function nodeResolvers(
  except: readonly string[],
  path = '/etc/resolv.conf',
): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  return [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].flatMap((match) => {
    const address = match[1]
    return address === undefined || address.includes(':') || except.includes(address)
      ? []
      : [address]
  })
}

interface Resolver {
  readonly resolver: string
  readonly port: number
  readonly clock: Pick<Clock, 'setTimer'>
}

function askByUdp(query: Buffer, { resolver, port, clock }: Resolver): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4')
    let isOpen = true
    const finish = (act: () => void): void => {
      if (!isOpen) return
      isOpen = false
      timer[Symbol.dispose]()
      socket.close()
      act()
    }
    const timer = clock.setTimer(answerMsMax, () => finish(() => reject(silent(resolver))))
    socket.on('error', (error) => finish(() => reject(error)))
    socket.on('message', (answer, from) => {
      // Only the requested resolver with the requested id counts: anything else is a guess by a
      // third party.
      if (from.address !== resolver || answer.length < idBytes) return
      if (answer.readUInt16BE(0) !== query.readUInt16BE(0)) return
      finish(() => resolve(answer))
    })
    // A node without a route to its resolver gets the error here, before anything is sent.
    socket.connect(port, resolver, (error?: Error) => {
      if (error) finish(() => reject(error))
      else if (isOpen) socket.send(query)
    })
  })
}

function askByTcp(query: Buffer, { resolver, port }: Resolver): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: resolver, port })
    let received = Buffer.alloc(0)
    whenSilent(socket, answerMsMax, () => socket.destroy(silent(resolver)))
    socket.once('error', reject)
    socket.once('close', () => reject(silent(resolver)))
    socket.once('connect', () => {
      const prefix = Buffer.alloc(2)
      prefix.writeUInt16BE(query.length)
      socket.write(Buffer.concat([prefix, query]))
    })
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      resolve(received.subarray(2, 2 + received.readUInt16BE(0)))
      socket.destroy()
    })
  })
}

function silent(resolver: string): Error {
  return new Error(`Cannot resolve: ${resolver} did not answer in ${answerMsMax} ms`)
}
