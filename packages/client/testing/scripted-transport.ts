import { BoundedQueue } from '@skerry/base'
import type { Transport, TransportRequest } from '../transport.ts'

/** An answer: an object is sent as JSON, a stream unchanged. */
export interface ScriptedAnswer {
  status?: number
  headers?: Readonly<Record<string, string>>
  body: object | AsyncIterable<Uint8Array>
}

export interface ScriptedTransport extends Transport {
  /** The method and path of each request so far. */
  readonly requests: readonly string[]
  /** The parsed bodies of the requests. */
  readonly bodies: readonly unknown[]
}

export function scriptedTransport(
  answer: (request: TransportRequest) => ScriptedAnswer | Error,
): ScriptedTransport {
  const requests: string[] = []
  const bodies: unknown[] = []
  return {
    requests,
    bodies,
    send(request, signal) {
      requests.push(`${request.method} ${request.path}`)
      if (request.body) bodies.push(JSON.parse(Buffer.from(request.body).toString('utf8')))
      if (signal.aborted) return Promise.reject(signal.reason)
      const given = answer(request)
      if (given instanceof Error) return Promise.reject(given)
      const { status = 200, headers = {}, body } = given
      const isStream = Symbol.asyncIterator in body
      return Promise.resolve({ status, headers, body: isStream ? body : whole(body) })
    },
  }
}

async function* whole(body: object): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(JSON.stringify(body))
}

/** The body of a watch: lines that the test pushes. */
export class WatchBody implements AsyncIterable<Uint8Array> {
  readonly #queue = new BoundedQueue<Uint8Array>(1000)

  event(type: string, object: object): void {
    this.#queue.push(Buffer.from(`${JSON.stringify({ type, object })}\n`))
  }

  end(): void {
    this.#queue.close()
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#queue[Symbol.asyncIterator]()
  }
}
