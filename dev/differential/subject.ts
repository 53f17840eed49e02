import { once } from 'node:events'
import { Agent, request, type RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { OutgoingRequest } from './script.ts'

/** An API server that scripts are run against, ours or upstream's. */
export interface Subject {
  readonly url: string
  /** The PEM credentials of an administrator. */
  readonly credentials: { readonly ca: string; readonly cert: string; readonly key: string }
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly stream: IncomingMessage
}

export interface Connection extends Disposable {
  send(request: OutgoingRequest): Promise<RawAnswer>
}

const answerMsMax = 30_000

/** Keeps its sockets between requests, as clients do. */
export function connect({ url, credentials }: Subject): Connection {
  const agents = {
    administrator: new Agent({ keepAlive: true, ...credentials }),
    nobody: new Agent({ keepAlive: true, ca: credentials.ca }),
  }
  const { hostname, port } = new URL(url)
  return {
    async send({ method, path, headers, body, isAuthenticated }) {
      const agent = isAuthenticated ? agents.administrator : agents.nobody
      const options: RequestOptions = { method, path, headers, hostname, port, agent }
      const outgoing = request({ ...options, signal: AbortSignal.timeout(answerMsMax) })
      outgoing.end(body)
      // The event's one argument, by Node's contract.
      const [stream] = (await once(outgoing, 'response')) as [IncomingMessage]
      outgoing.on('error', () => stream.destroy())
      return { status: stream.statusCode ?? 0, headers: stream.headersDistinct, stream }
    },
    [Symbol.dispose]() {
      agents.administrator.destroy()
      agents.nobody.destroy()
    },
  }
}

/** The events of a watch, one at a time; undefined when the server has ended it. */
export class EventReader {
  readonly #stream: IncomingMessage
  readonly #parts: AsyncIterator<Uint8Array>
  #rest = ''

  constructor(stream: IncomingMessage) {
    this.#stream = stream
    this.#parts = stream.iterator({ destroyOnReturn: false })
  }

  async next(): Promise<unknown> {
    for (;;) {
      const end = this.#rest.indexOf('\n')
      if (end >= 0) {
        const line = this.#rest.slice(0, end)
        this.#rest = this.#rest.slice(end + 1)
        return JSON.parse(line)
      }
      const part = await this.#parts.next()
      if (part.done) return undefined
      this.#rest += Buffer.from(part.value).toString()
    }
  }

  close(): void {
    this.#stream.destroy()
  }
}
