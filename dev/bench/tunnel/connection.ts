import { once } from 'node:events'
import { connect as connectTcp, type NetConnectOpts, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** The entry of the load: the target itself, a port of a tunnel, or a proxy that expects CONNECT. */
export interface Entry {
  readonly to: NetConnectOpts
  /** The host:port that CONNECT requests of the proxy before TLS. */
  readonly connectTo?: string
  readonly ca: string
  readonly cert?: string
  readonly key?: string
  /** The prefix of each path. */
  readonly prefix: string
}

export interface LoadAnswer {
  readonly status: number
  readonly bytes: number
}

interface Waiting {
  resolve(answer: LoadAnswer): void
  reject(error: Error): void
}

/**
 * A connection of HTTP/1.1 over TLS for one request at a time. It does as little work as possible, so that
 * the tunnels are measured and not the client. Understands only answers with a content-length.
 */
export class LoadConnection {
  readonly socket: TLSSocket
  readonly #prefix: string
  #waiting: Waiting | undefined
  #head = ''
  #status = 0
  #bytes = 0
  #left = -1

  private constructor(socket: TLSSocket, prefix: string) {
    this.socket = socket
    this.#prefix = prefix
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('Cannot measure: the connection ended')))
  }

  static async open(entry: Entry, signal: AbortSignal): Promise<LoadConnection> {
    const raw = connectTcp(entry.to)
    const onAbort = (): void => void raw.destroy()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await once(raw, 'connect')
      raw.setNoDelay(true)
      if (entry.connectTo !== undefined) await askConnect(raw, entry.connectTo)
      const { ca, cert, key, prefix } = entry
      const client = cert === undefined || key === undefined ? {} : { cert, key }
      const socket = connectTls({ socket: raw, ca, ...client, servername: 'localhost' })
      raw.on('error', (error) => socket.destroy(error))
      await once(socket, 'secureConnect')
      return new LoadConnection(socket, prefix)
    } catch (error) {
      raw.destroy()
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  get(path: string): Promise<LoadAnswer> {
    return this.#ask(`GET ${this.#prefix}${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  }

  /** Sends so many bytes as a body; resolves when all were read at the other side. */
  post(path: string, bytes: number): Promise<LoadAnswer> {
    const head = `POST ${this.#prefix}${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\n`
    const answer = this.#ask(`${head}content-length: ${bytes}\r\n\r\n`)
    let left = bytes
    const send = (): void => {
      while (left > 0) {
        const part = left < piece.length ? piece.subarray(0, left) : piece
        left -= part.length
        if (!this.socket.write(part)) return
      }
      this.socket.off('drain', send)
    }
    this.socket.on('drain', send)
    send()
    return answer
  }

  /** Requests more than it will read, and stops reading. */
  stall(path: string): void {
    this.get(path).catch(ignore)
    this.socket.pause()
  }

  close(): void {
    this.socket.destroy()
  }

  #ask(text: string): Promise<LoadAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<LoadAnswer>()
    this.#waiting = { resolve, reject }
    if (this.socket.destroyed) this.#fail(new Error('Cannot measure: the connection has ended'))
    else this.socket.write(text, 'latin1')
    return promise
  }

  #onData(chunk: Buffer): void {
    if (this.#left < 0) {
      this.#head += chunk.toString('latin1')
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = this.#head.slice(0, end)
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      if (length === undefined) return this.#fail(new Error(`Cannot measure: answer is ${head}`))
      this.#status = Number(head.slice(9, 12))
      this.#bytes = Number(length)
      this.#left = this.#bytes - (this.#head.length - end - 4)
      this.#head = ''
    } else this.#left -= chunk.length
    if (this.#left > 0) return
    this.#left = -1
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve({ status: this.#status, bytes: this.#bytes })
  }

  #fail(error: Error): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(error)
    this.socket.destroy()
  }
}

const piece = Buffer.alloc(65_536, 'u')

async function askConnect(socket: Socket, target: string): Promise<void> {
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`)
  const [answer] = await once(socket, 'data')
  const text = String(answer)
  // The target speaks only after the client's first TLS message: nothing follows the head.
  if (!/^HTTP\/1\.[01] 200/.test(text))
    throw new Error(`Cannot connect: the proxy answered ${text}`)
  socket.pause()
}

function ignore(): void {}
