import {
  celTypes,
  CelRuntimeError,
  CelTypeValue,
  copying,
  declare,
  listType,
  mapType,
  member,
  opaqueType,
  plain,
  type CelLibrary,
  type CelValue,
} from '@skerry/cel'
import { accessing, parsing } from './opaque-costs.ts'
import { opaqueKind, textOf } from './opaque-values.ts'

const { bool, string } = celTypes

interface UrlParts {
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string
  readonly text: string
}

const urls = opaqueKind<UrlParts>(opaqueType('kubernetes.URL'), (a, b) => a.text === b.text)
const { type } = urls

const parts: Readonly<Record<string, { id: string; of: (url: UrlParts) => string }>> =
  Object.freeze({
    getScheme: { id: 'url_get_scheme', of: ({ scheme }) => scheme },
    getHost: { id: 'url_get_host', of: ({ host }) => host },
    getHostname: { id: 'url_get_hostname', of: ({ host }) => splitHost(host).name },
    getPort: { id: 'url_get_port', of: ({ host }) => splitHost(host).port },
    getEscapedPath: { id: 'url_get_escaped_path', of: ({ path }) => escapedPath(path) },
  })

/** Adds url(), isURL() and the parts of a URL. */
export const urlLibrary: CelLibrary = {
  name: 'kubernetes.url',
  constants: {
    'kubernetes.URL': {
      type: { kind: 'type', of: type },
      value: new CelTypeValue('kubernetes.URL'),
    },
  },
  functions: [
    declare(
      'url',
      plain(
        { id: 'string_to_url', takes: [string], gives: type },
        (text) => urls.make(parsed(textOf(text))),
        { ...parsing, estimate: copying(0) },
      ),
    ),
    declare(
      'isURL',
      plain(
        { id: 'is_url_string', takes: [string], gives: bool },
        (text) => typeof parse(textOf(text)) !== 'string',
      ),
    ),
    ...Object.entries(parts).map(([name, { id, of }]) =>
      declare(
        name,
        member({ id, takes: [type], gives: string }, (value) => of(urls.read(value)), accessing),
      ),
    ),
    declare(
      'getQuery',
      member(
        { id: 'url_get_query', takes: [type], gives: mapType(string, listType(string)) },
        (value) => queryOf(urls.read(value).query),
        accessing,
      ),
    ),
  ],
}

function parsed(text: string): UrlParts {
  const found = parse(text)
  if (typeof found !== 'string') return found
  throw new CelRuntimeError(
    `URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${found}`,
  )
}

/** Returns the parts of an absolute URL, or of a path that starts with a slash, or an error. */
function parse(text: string): UrlParts | string {
  if (text === '') return 'empty url'
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL'
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? ''
  const afterScheme = scheme === '' ? text : text.slice(scheme.length + 1)
  if (scheme === '' && text.startsWith(':')) return 'missing protocol scheme'
  if (!afterScheme.startsWith('/')) return 'invalid URI for request'
  const [withoutFragment = ''] = afterScheme.split('#')
  const question = withoutFragment.indexOf('?')
  const query = question < 0 ? '' : withoutFragment.slice(question + 1)
  const front = question < 0 ? withoutFragment : withoutFragment.slice(0, question)
  const authority =
    scheme !== '' || !front.startsWith('///') ? /^\/\/([^/]*)/.exec(front)?.[1] : undefined
  const host = (authority ?? '').replace(/^.*@/, '')
  const path = authority === undefined ? front : front.slice(authority.length + 2)
  const wrong =
    wrongHost(host) ??
    (/%(?![0-9a-fA-F]{2})/.test(path)
      ? `invalid URL escape "${/%.{0,2}/.exec(path)?.[0]}"`
      : undefined)
  return wrong ?? { scheme: scheme.toLowerCase(), host, path, query, text }
}

function wrongHost(host: string): string | undefined {
  const { port } = splitHost(host)
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host"
  const after = host.startsWith('[') ? host.slice(host.indexOf(']') + 1) : /:[^:]*$/.exec(host)?.[0]
  if (after && !/^:\d*$/.test(after)) return `invalid port ${JSON.stringify(after)} after host`
  return / /.test(host) || port === undefined ? 'invalid character " " in host name' : undefined
}

function splitHost(host: string): { name: string; port: string } {
  const found = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host)
  const name = found?.[1] ?? host
  return { name: name.replace(/^\[(.*)\]$/, '$1'), port: found?.[2] ?? '' }
}

function escapedPath(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%[\]]/gu, (character) =>
    encodeURIComponent(character),
  )
}

function queryOf(query: string): CelValue {
  const found = new Map<string, string[]>()
  for (const [key, value] of new URLSearchParams(query)) {
    found.set(key, [...(found.get(key) ?? []), value])
  }
  return {
    celKind: 'map',
    size: found.size,
    get(key) {
      const values = typeof key === 'string' ? found.get(key) : undefined
      return values && { celKind: 'list', size: values.length, at: (at) => values[at] ?? null }
    },
    keys: () => found.keys(),
  }
}
