import http2 from 'node:http2'
import type { SecureClientSessionOptions } from 'node:http2'

/** One HTTP/2 connection. Disposing it destroys the connection. */
export interface AskedSession extends Disposable {
  /** Returns the answer's status after its stream has closed; 0 if the stream was cut before the head. */
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
