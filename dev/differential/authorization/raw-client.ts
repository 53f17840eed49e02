import { connect } from 'node:tls'
import type { Subject } from '../subject.ts'

export interface RawRequest {
  /** The method, which is sent without a change of case. */
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
  /** False: without the administrator's certificate. */
  readonly isAdministrator?: boolean
}

const answerMsMax = 30_000

/**
 * Sends bytes that no client would send, on a separate connection, and returns the status, or 0 if there was
 * no answer.
 */
export function sendRaw({ url, credentials }: Subject, request: RawRequest): Promise<number> {
  const { hostname, port } = new URL(url)
  const { ca, cert, key } = credentials
  const identity = request.isAdministrator === false ? {} : { cert, key }
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), ca, ...identity })
    let text = ''
    const done = (): void => {
      socket.destroy()
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0))
    }
    socket.setTimeout(answerMsMax, done)
    socket.on('secureConnect', () => socket.write(headOf(request)))
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1')
      if (text.includes('\r\n\r\n')) done()
    })
    socket.on('error', done)
    socket.on('close', done)
  })
}

function headOf({ method, target, headers = {}, body = '' }: RawRequest): string {
  const fields: Readonly<Record<string, string | readonly string[]>> = {
    host: '127.0.0.1',
    'content-length': String(Buffer.byteLength(body)),
    ...('connection' in headers ? {} : { connection: 'close' }),
    ...headers,
  }
  const lines = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  )
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
