import type { Transport, TransportRequest } from '@skerry/client'

export interface ApiCall {
  readonly method?: TransportRequest['method']
  readonly path: string
  /** The body, sent as JSON; bytes are sent unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ApiReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON; undefined when it is not JSON. Tests look into it freely. */
  readonly body: JsonReply
}

/** Any depth of any answer; what is not there is undefined. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test names the path it expects, and fails when it is not there.
export type JsonReply = any

const never = new AbortController().signal

/** Sends one request and resolves with its complete answer. */
export async function callApi(
  transport: Transport,
  call: ApiCall,
  signal: AbortSignal = never,
): Promise<ApiReply> {
  const { status, headers, body } = await transport.send(requestOf(call), signal)
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  const text = Buffer.concat(parts).toString()
  return { status, headers, text, body: parsed(text) }
}

export interface WatchLine {
  readonly type: string
  readonly object: JsonReply
}

/** The events of a watch; ends when the server ends it or the signal aborts. */
export async function* watchApi(
  transport: Transport,
  path: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): AsyncGenerator<WatchLine, void, undefined> {
  const answer = await transport.send(requestOf({ path, headers }), signal)
  let rest = ''
  try {
    for await (const part of answer.body) {
      const lines = `${rest}${Buffer.from(part).toString()}`.split('\n')
      rest = lines.pop() ?? ''
      // Each line of a watch is one event.
      for (const line of lines) yield JSON.parse(line) as WatchLine
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function requestOf({ method = 'GET', path, body, headers = {} }: ApiCall): TransportRequest {
  if (body === undefined) return { method, path, headers }
  const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body))
  return { method, path, headers: { 'content-type': 'application/json', ...headers }, body: bytes }
}

function parsed(text: string): JsonReply {
  try {
    return JSON.parse(text)
  } catch {
    // Plain text is a valid answer, too.
    return undefined
  }
}
