import { applyMergePatch } from '@skerry/bodies'
import { parse } from 'yaml'

/** One request of a script and the compared parts of its answer. README.md defines the format. */
export interface Exchange {
  /** The name, unique in its script. */
  readonly name: string
  /** An HTTP method, or WATCH (opens or reads a watch) or EVENTS (reads on from an open one). */
  readonly method: string
  /** The target, with `${…}` not replaced yet. */
  readonly target: string
  /**
   * The headers as written; `as`, `based-on`, `body`, `events`, `keep` and `until` are for the runner and are
   * not sent.
   */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Name to path in the answer's body. */
  readonly captures: Readonly<Record<string, string>>
}

export interface Script {
  /** The file's name without its ending; also the namespace `${ns}`. */
  readonly name: string
  readonly text: string
  readonly exchanges: readonly Exchange[]
}

const methods =
  /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE|WATCH|EVENTS|[A-Z]+) (\S.*)$/

export function parseScript(name: string, text: string): Script {
  const [, ...sections] = text.split(/^### /m)
  const exchanges = new Map<string, Exchange>()
  for (const section of sections) {
    const exchange = parseExchange(name, section)
    if (exchanges.has(exchange.name)) {
      throw new RangeError(`${name}: two exchanges "${exchange.name}"`)
    }
    exchanges.set(exchange.name, basedOn(exchange, exchanges))
  }
  return { name, text, exchanges: [...exchanges.values()] }
}

function parseExchange(script: string, section: string): Exchange {
  const lines = section.split('\n')
  const name = (lines.shift() ?? '').trim()
  const [, method = '', target = ''] = methods.exec(lines.shift() ?? '') ?? []
  if (method === '') throw new RangeError(`${script}: "${name}" has no request line`)
  const headers: Record<string, string> = {}
  for (let line = lines.shift(); line !== undefined && line.trim() !== ''; line = lines.shift()) {
    const colon = line.indexOf(':')
    if (colon < 1) throw new RangeError(`${script}: "${name}" has no header in "${line}"`)
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
  const captures: Record<string, string> = {}
  const body: string[] = []
  for (const line of lines) {
    const capture = /^> (\w+) = (\S+)$/.exec(line)
    if (capture?.[1] !== undefined && capture[2] !== undefined) captures[capture[1]] = capture[2]
    else body.push(line)
  }
  return { name, method, target: target.trim(), headers, body: body.join('\n').trim(), captures }
}

/** Applies `Based-On: name`, by which the body is a merge patch of that exchange's body. */
function basedOn(exchange: Exchange, earlier: ReadonlyMap<string, Exchange>): Exchange {
  const name = exchange.headers['based-on']
  if (name === undefined) return exchange
  const base = earlier.get(name)
  if (!base) throw new RangeError(`"${exchange.name}" is based on "${name}", which is not there`)
  const merged = applyMergePatch(parse(base.body), parse(exchange.body) ?? {})
  return { ...exchange, body: JSON.stringify(merged) }
}

export type Variables = ReadonlyMap<string, string>

export function fill(text: string, variables: Variables): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => {
    const value = variables.get(name)
    if (value === undefined) throw new RangeError(`Cannot fill \${${name}}: nothing has set it`)
    return value
  })
}

export interface OutgoingRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string | string[]>
  readonly body: Uint8Array | undefined
  /** False: sent without any credentials. */
  readonly isAuthenticated: boolean
}

const runnerHeaders = new Set(['as', 'based-on', 'body', 'events', 'keep', 'until'])

/** Returns the request to send for an exchange. */
export function requestOf(exchange: Exchange, variables: Variables): OutgoingRequest {
  const headers: Record<string, string | string[]> = { 'user-agent': 'script' }
  for (const [name, value] of Object.entries(exchange.headers)) {
    if (!runnerHeaders.has(name)) headers[name] = fill(value, variables)
  }
  const [user, ...groups] = (exchange.headers['as'] ?? '').split(',').map((part) => part.trim())
  const isAuthenticated = user !== 'nobody'
  if (isAuthenticated && user !== undefined && user !== '') {
    headers['impersonate-user'] = fill(user, variables)
    if (groups.length > 0) headers['impersonate-group'] = groups
  }
  const body = bodyOf(exchange, variables)
  if (body !== undefined) {
    headers['content-type'] ??= 'application/json'
    // Node does not frame the body of a DELETE.
    headers['content-length'] ??= String(body.length)
  }
  const isWatch = exchange.method === 'WATCH'
  const path = fill(exchange.target, variables)
  return {
    method: isWatch ? 'GET' : exchange.method,
    path: isWatch ? `${path}${path.includes('?') ? '&' : '?'}watch=1` : path,
    headers,
    body,
    isAuthenticated,
  }
}

/** Returns YAML of the script as JSON, unless the media type is YAML or the body is raw. */
function bodyOf({ headers, body }: Exchange, variables: Variables): Uint8Array | undefined {
  if (body === '' && headers['body'] === undefined) return undefined
  if (headers['body'] === 'base64') return Buffer.from(body, 'base64')
  const text = fill(body, variables)
  const type = headers['content-type'] ?? 'application/json'
  if (headers['body'] === 'raw' || !/json/.test(type)) return Buffer.from(text)
  return Buffer.from(JSON.stringify(parse(text)))
}
