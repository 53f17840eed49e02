import http2 from 'node:http2'
import type { SecureClientSessionOptions } from 'node:http2'

/** One connection of HTTP/2; disposing it cuts it off. */
export interface AskedSession extends Disposable {
  /** The status of the answer, once its stream is over; 0: it was cut before its head. */
  ask(method: string, path: string): Promise<number>
}

export function openSession(url: string, credentials: SecureClientSessionOptions): AskedSession {
  const session = http2.connect(url, credentials)
  return {
    async ask(method, path) {
      const stream = session.request({ ':method': method, ':path': path })
      let status = 0
      stream.on('response', (head) => (status = Number(head[':status'])))
      stream.on('error', () => undefined)
      stream.resume()
      if (!stream.closed) await new Promise<void>((done) => stream.once('close', () => done()))
      return status
    },
    [Symbol.dispose]: () => session.destroy(),
  }
}
