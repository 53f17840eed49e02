import type { ApiRequest, HeaderFields } from '@skerry/apiserver'
import { isHubCookie, rewriteAddress, withoutHubCookies } from '@skerry/apiserver'
import { clientHeaders, isDroppedAnswer, sandboxed } from '../proxy/forwarded-headers.ts'

/** The place of a service, as clients see it and as the service sees itself. */
export interface ServicePlace {
  /** The path of the service's root on the hub, without a slash at its end. */
  readonly prefix: string
  /** The service's own host in its cluster, with the port. */
  readonly host: string
}

/**
 * Returns the headers for a service: the client's without credentials for the hub, with those that name the
 * request's source. They do not name the user.
 */
export function serviceRequestHeaders(
  request: Pick<ApiRequest, 'fields' | 'headers' | 'peer'>,
  { prefix }: ServicePlace,
): Record<string, string[]> {
  const { cookie, ...headers } = clientHeaders(request.fields())
  const kept = withoutHubCookies((cookie ?? []).join(';'))
  const { peer } = request
  const { host } = request.headers
  return {
    ...headers,
    ...(kept === '' ? {} : { cookie: [kept] }),
    ...(takesTrailers(request.fields()) ? { te: ['trailers'] } : {}),
    ...(peer.type === 'socket' && peer.address !== '' ? { 'x-forwarded-for': [peer.address] } : {}),
    ...(host === undefined ? {} : { 'x-forwarded-host': [host] }),
    'x-forwarded-proto': ['https'],
    'x-forwarded-prefix': [prefix],
  }
}

function takesTrailers(fields: HeaderFields): boolean {
  return fields.some(
    ([name, value]) =>
      name.toLowerCase() === 'te' &&
      value.split(',').some((coding) => coding.trim().toLowerCase() === 'trailers'),
  )
}

/** Cookies and trailers of the service's own, which answers of APIs do not keep. */
const keptAnswers: ReadonlySet<string> = new Set(['set-cookie', 'trailer'])

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Returns the headers of a service's answer for a client. */
export function serviceAnswerHeaders(
  headers: Headers,
  place: ServicePlace,
): Record<string, string | readonly string[]> {
  const out: Record<string, string | readonly string[]> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue
    if (isDroppedAnswer(name) && !keptAnswers.has(name)) continue
    out[name] = value
  }
  const { location, 'set-cookie': cookies } = out
  if (location !== undefined) {
    out['location'] = listOf(location).map((address) => rewriteAddress(address, place))
  }
  const own = cookies === undefined ? [] : listOf(cookies).flatMap((each) => scoped(each, place))
  delete out['set-cookie']
  if (own.length > 0) out['set-cookie'] = own
  return sandboxed(out)
}

/** Filters trailers like headers, and also drops those that only a head may have. */
export function serviceTrailers(trailers: Headers): Record<string, string | readonly string[]> {
  const out: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(trailers)) {
    if (value === undefined || name.startsWith(':') || isDroppedAnswer(name)) continue
    if (!/^(?:content-(?:length|encoding|type|range)|location|te|host)$/.test(name))
      out[name] = value
  }
  return out
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

/** Restricts a cookie to this service: to the path below its prefix, and to the hub's exact host. */
function scoped(cookie: string, { prefix }: ServicePlace): string[] {
  const [pair = '', ...attributes] = cookie.split(';')
  if (isHubCookie(pair)) return []
  const path = attributes.map((each) => /^\s*path\s*=\s*(\/.*)$/i.exec(each)?.[1]).find(Boolean)
  const kept = attributes.filter((each) => !/^\s*(?:path|domain)\s*(?:=|$)/i.test(each))
  const wanted = path?.trim() ?? '/'
  // A service that knows its prefix may have added it already.
  const whole = wanted === prefix || wanted.startsWith(`${prefix}/`) ? wanted : prefix + wanted
  return [[pair, ...kept, ` Path=${whole}`].join(';')]
}
