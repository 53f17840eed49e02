/** A browser at a hub, for tests: it keeps cookies and sends what browsers send by themselves. */
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { until } from '../until.ts'
import type { TestHub } from './test-fleet.ts'

export interface BrowserAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The JSON of the text; an empty object for other texts. */
  readonly body: Readonly<Record<string, unknown>> & { readonly message?: string }
}

export interface BrowserAsk {
  readonly method?: string
  readonly path: string
  readonly json?: unknown
  /** In place of JSON. */
  readonly form?: string
  /** In addition to those of the console's own pages, or in place of them. An undefined header is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

export interface TestBrowser {
  /** Its cookies for the hub, by name. */
  readonly cookies: Map<string, string>
  ask(ask: BrowserAsk): Promise<BrowserAnswer>
  /** The answer as soon as its head is there. */
  open(ask: BrowserAsk): Promise<IncomingMessage>
  /** Opens the stream of a tab. */
  watches(headers?: Readonly<Record<string, string>>): Promise<TestTab>
}

/** The stream of one tab. */
export interface TestTab extends Disposable {
  readonly socket: WebSocket
  /** All frames so far. */
  readonly frames: readonly TabFrame[]
  send(frame: object): void
  /** Waits for a frame. */
  until(isWanted: (frame: TabFrame) => boolean): Promise<TabFrame>
}

/** Any frame of the hub's, as far as tests read it. */
export interface TabFrame {
  readonly id?: number
  readonly beat?: number
  readonly snapshot?: readonly Shown[]
  readonly columns?: readonly { readonly name: string }[]
  readonly last?: boolean
  readonly events?: readonly { readonly t: string; readonly o: Shown }[]
  readonly resourceVersion?: string
  readonly state?: string
  readonly message?: string
  readonly retryAfter?: number
  readonly error?: { readonly code: number; readonly message: string; readonly requestId?: string }
}

interface Shown {
  readonly n?: string
  readonly s?: string
  readonly cells?: readonly unknown[]
  readonly data?: Readonly<Record<string, string>>
  readonly metadata?: Readonly<Record<string, unknown>> & { readonly name?: string }
}

/** Opens a browser that shows the console; `certificate` is what it has for the hub. */
export function openTestBrowser(
  { url, caPem }: Pick<TestHub, 'url' | 'caPem'>,
  certificate?: { readonly certificate: string; readonly key: string },
): TestBrowser {
  const cookies = new Map<string, string>()
  const { origin, hostname: host, port } = new URL(url)
  const optionsOf = ({ method = 'GET', path, json, form, headers = {} }: BrowserAsk) => {
    const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'
    const sent: Record<string, string | undefined> = {
      'x-skerry-console': '1',
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'cors',
      ...(method === 'GET' ? {} : { origin }),
      ...((json ?? form) === undefined ? {} : { 'content-type': type }),
      ...(cookies.size === 0 ? {} : { cookie: cookieLine(cookies) }),
      ...headers,
    }
    const known = Object.entries(sent).filter(([, value]) => value !== undefined)
    const options: RequestOptions = {
      host,
      port,
      path,
      method,
      ca: caPem,
      agent: false,
      ...(certificate ? { cert: certificate.certificate, key: certificate.key } : {}),
      headers: Object.fromEntries(known),
    }
    return options
  }
  const open = (ask: BrowserAsk): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const request = httpsRequest(optionsOf(ask), (response) => {
        for (const line of response.headers['set-cookie'] ?? []) keep(cookies, line)
        resolve(response)
      })
      request.on('error', reject)
      request.end(ask.form ?? (ask.json === undefined ? undefined : JSON.stringify(ask.json)))
    })
  const watches = (headers: Readonly<Record<string, string>> = {}): Promise<TestTab> => {
    const sent = { origin, cookie: cookieLine(cookies), ...headers }
    const socket = new WebSocket(`wss://${host}:${port}/hub/v1/watches`, 'skerry.watches.v1', {
      ca: caPem,
      headers: sent,
      ...(certificate ? { cert: certificate.certificate, key: certificate.key } : {}),
    })
    return openTab(socket)
  }
  return {
    cookies,
    open,
    watches,
    async ask(ask) {
      const response = await open(ask)
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      const body = text.startsWith('{') ? JSON.parse(text) : {}
      return { status: response.statusCode ?? 0, headers: response.headers, text, body }
    },
  }
}

function cookieLine(cookies: ReadonlyMap<string, string>): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((each) => each.trim())
  const at = pair.indexOf('=')
  const name = pair.slice(0, at)
  if (attributes.includes('Max-Age=0')) cookies.delete(name)
  else cookies.set(name, pair.slice(at + 1))
}

function openTab(socket: WebSocket): Promise<TestTab> {
  const frames: TabFrame[] = []
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString('utf8'))))
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('open', () => {
      // A broken connection closes.
      socket.on('error', () => undefined)
      resolve({
        socket,
        frames,
        send: (frame) => socket.send(JSON.stringify(frame)),
        until: (isWanted) => until(() => frames.find(isWanted)),
        [Symbol.dispose]: () => socket.terminate(),
      })
    })
  })
}
