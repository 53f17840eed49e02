/** A browser at a hub, for tests: it keeps cookies and sends what browsers send by themselves. */
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
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
  return {
    cookies,
    open,
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
