import type { ApiRequest, HeaderFields } from '@skerry/apiserver'
import { rewriteAddress } from '@skerry/apiserver'
import {
  clientHeaders,
  isDroppedAnswer,
  isHubCookie,
  sandboxed,
} from '../proxy/forwarded-headers.ts'

/** As a client knows a service, and as the service knows itself. */
export interface ServicePlace {
  /** Path of the service's root on the hub, without a slash at its end. */
  readonly prefix: string
  /** What the service is called in its cluster, with the port. */
  readonly host: string
}

/**
 * What a service is told: the client's headers without credentials that are for the hub, and where the
 * request came from. Who the user is it is not told.
 */
export function serviceRequestHeaders(
  request: Pick<ApiRequest, 'fields' | 'headers' | 'peer'>,
  { prefix }: ServicePlace,
): Record<string, string[]> {
  const { cookie, ...headers } = clientHeaders(request.fields())
  const kept = (cookie ?? [])
    .flatMap((line) => line.split(';'))
    .filter((pair) => pair.trim() !== '' && !isHubCookie(pair))
  const { peer } = request
  const { host } = request.headers
  return {
    ...headers,
    ...(kept.length === 0 ? {} : { cookie: [kept.map((pair) => pair.trim()).join('; ')] }),
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

/** Cookies and addresses of the service's own, which clientHeaders' counterpart for APIs drops. */
const keptAnswers: ReadonlySet<string> = new Set(['set-cookie', 'trailer'])

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** What a client is told of a service's answer. */
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

/** Trailers are headers that come late: the same are dropped, and those that only a head may have. */
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

/** A cookie that comes back to this service alone: below its prefix, and for the hub's name as it is. */
function scoped(cookie: string, { prefix }: ServicePlace): string[] {
  const [pair = '', ...attributes] = cookie.split(';')
  if (isHubCookie(pair)) return []
  const path = attributes.map((each) => /^\s*path\s*=\s*(\/.*)$/i.exec(each)?.[1]).find(Boolean)
  const kept = attributes.filter((each) => !/^\s*(?:path|domain)\s*(?:=|$)/i.test(each))
  const wanted = path?.trim() ?? '/'
  // Who knows its prefix may have put it there already.
  const whole = wanted === prefix || wanted.startsWith(`${prefix}/`) ? wanted : prefix + wanted
  return [[pair, ...kept, ` Path=${whole}`].join(';')]
}
