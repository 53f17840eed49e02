import { randomBytes } from 'node:crypto'
import { StatusError } from '@skerry/api'
import type { ApiAnswer, ApiRequest, Authorizer, AuthorizedRequest, Route } from '@skerry/apiserver'

/** Reads a file of the console's build by its path, e.g. `assets/main-A1B2.js`; undefined if there is none. */
export type ReadConsoleFile = (path: string) => Promise<Uint8Array | undefined>

const consolePath = '/console'

/**
 * Serves the console's pages and their assets below `/console/`, to everybody: they hold no secret. Paths that are not
 * files are pages, which the console itself tells apart.
 */
export function consoleFilesRoute(read: ReadConsoleFile): Route {
  return {
    prefix: consolePath,
    matches: ({ path }) => isConsolePath(path),
    serve: (admitted) => serve(admitted, read),
  }
}

export const consoleFilesAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ isResourceRequest, path, verb }) {
    const isRead = verb === 'get' || verb === 'head'
    const isAllowed = !isResourceRequest && isRead && isConsolePath(path)
    return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
  },
})

/** Returns the target of a request, which is the console for a browser that opens the hub's address. */
export function consoleTarget({ method, target, headers }: ApiRequest): string {
  const isPage =
    method === 'GET' && target === '/' && /\btext\/html\b/.test(headers['accept'] ?? '')
  return isPage ? consolePath : target
}

function isConsolePath(path: string): boolean {
  return path === consolePath || path.startsWith(`${consolePath}/`)
}

async function serve(
  { info: { method, path }, request: { headers } }: AuthorizedRequest,
  read: ReadConsoleFile,
): Promise<ApiAnswer> {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
  }
  if (path === consolePath) {
    const moved = { location: `${consolePath}/`, 'cache-control': 'no-store' }
    return { status: 302, headers: moved, body: new Uint8Array(0) }
  }
  const name = path.slice(consolePath.length + 1)
  const isFile = /^(?:assets\/)?[\w-][\w.-]*\.\w+$/.test(name) && name !== pageName
  const asset = isFile ? await readAsset(name, headers['accept-encoding'] ?? '', read) : undefined
  if (asset) return asset
  // A page that was loaded before an upgrade must see that its parts are gone.
  if (name.startsWith('assets/')) throw new StatusError('NotFound', `the console has no ${name}`)
  const page = await read(pageName)
  return page ? pageAnswer(page) : noPages()
}

const pageName = 'index.html'

const types: Readonly<Record<string, string>> = Object.freeze({
  css: 'text/css; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
})

const always = Object.freeze({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
})

async function readAsset(
  name: string,
  accepted: string,
  read: ReadConsoleFile,
): Promise<ApiAnswer | undefined> {
  const type = types[name.slice(name.lastIndexOf('.') + 1)]
  if (type === undefined) return undefined
  const isNamedByContent = name.startsWith('assets/')
  const headers = {
    ...always,
    'content-type': type,
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
  }
  for (const [coding, suffix] of [
    ['br', '.br'],
    ['gzip', '.gz'],
  ] as const) {
    if (!accepts(accepted, coding)) continue
    const body = await read(`${name}${suffix}`)
    if (body) return { status: 200, headers: { ...headers, 'content-encoding': coding }, body }
  }
  const body = await read(name)
  return body && { status: 200, headers, body }
}

/** Reports whether a coding is named without the weight 0 (RFC 9110, 12.5.3). */
function accepts(accepted: string, coding: string): boolean {
  return accepted.split(',').some((clause) => {
    const [name = '', ...parameters] = clause.split(';').map((part) => part.trim().toLowerCase())
    return name === coding && !parameters.some((each) => /^q=0(?:\.0*)?$/.test(each))
  })
}

function pageAnswer(page: Uint8Array): ApiAnswer {
  const nonce = randomBytes(16).toString('base64')
  const text = Buffer.from(page).toString('utf8').replaceAll('__NONCE__', nonce)
  return htmlAnswer(200, text, nonce)
}

function htmlAnswer(status: number, text: string, nonce: string): ApiAnswer {
  return {
    status,
    headers: {
      ...always,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(nonce),
      'cache-control': 'no-store',
    },
    body: Buffer.from(text),
  }
}

/** A script runs only from the hub's own files, and no string becomes one (CSP 3, Trusted Types). */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

function noPages(): ApiAnswer {
  const text =
    'This hub has no pages of the web console, because it runs from its sources. Start it with ./skerry, which builds them, or run "skerry build".'
  return htmlAnswer(
    404,
    `<!doctype html><meta charset="utf-8"><title>Skerry</title><p>${text}</p>\n`,
    '',
  )
}
