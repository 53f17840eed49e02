import { connectionFields, isFieldName, isFieldValue } from '@skerry/base'
import type { AnswerHeaders } from './answer-head.ts'

export interface HttpRequest {
  readonly method: string
  /** The path and query, already encoded. */
  readonly path: string
  /** The headers with `host`, without those that concern one connection, which are added here. */
  readonly headers: AnswerHeaders
  readonly body?: AsyncIterable<Uint8Array> | Uint8Array | undefined
}

export interface RequestHead {
  readonly text: string
  /** The length of the body, or undefined if it is sent in chunks. */
  readonly lengthBytes: number | undefined
}

/** Headers that concern the connection or define where the body ends. */
const ownNames: ReadonlySet<string> = new Set([...connectionFields, 'expect', 'trailer'])

const methodShape = /^[A-Z]{1,32}$/
const pathShape = /^\/[\x21-\x7e]*$/
/** These methods need no length if there is no body. */
const bodiless = /^(GET|HEAD|DELETE|OPTIONS|TRACE)$/

/** Throws RangeError for values that a server could misread. */
export function requestHead({ method, path, headers, body }: HttpRequest): RequestHead {
  if (!methodShape.test(method)) throw new RangeError('Cannot ask: bad method')
  if (!pathShape.test(path)) throw new RangeError('Cannot ask: bad path')
  // This is the default, but old proxies need it.
  let text = `${method} ${path} HTTP/1.1\r\nconnection: keep-alive\r\n`
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (name === 'content-length' || ownNames.has(name)) continue
    if (typeof value === 'string') text += line(name, value)
    else for (const one of value) text += line(name, one)
  }
  const lengthBytes = lengthOf(body, headers['content-length'])
  if (lengthBytes === undefined) text += 'transfer-encoding: chunked\r\n'
  else if (lengthBytes > 0 || !bodiless.test(method)) text += `content-length: ${lengthBytes}\r\n`
  return { text: `${text}\r\n`, lengthBytes }
}

function line(name: string, value: string): string {
  if (!isFieldName(name)) throw new RangeError('Cannot ask: bad header name')
  if (!isFieldValue(value)) throw new RangeError(`Cannot ask: bad value of header ${name}`)
  return `${name}: ${value}\r\n`
}

function lengthOf(body: HttpRequest['body'], named: AnswerHeaders[string] | undefined) {
  if (named !== undefined && (typeof named !== 'string' || !/^\d{1,15}$/.test(named))) {
    throw new RangeError('Cannot ask: bad content-length')
  }
  const length = named === undefined ? undefined : Number(named)
  if (body !== undefined && !(body instanceof Uint8Array)) return length
  const bytes = body?.length ?? 0
  if (length !== undefined && length !== bytes) {
    throw new RangeError(`Cannot ask: a body of ${bytes} bytes, and a length of ${length}`)
  }
  return bytes
}
