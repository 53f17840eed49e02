import type { HeaderRecord } from '@skerry/base'

/**
 * Names of a hub's own cookies begin with `__Host-skerry-`. Browsers take such a cookie from the hub's own host alone,
 * over TLS, and for all its paths (RFC 6265bis, 4.1.3.2). Cookies ignore ports, so a site on the hub's machine gets them
 * as well; no server passes one on to another program, nor takes one from there.
 * The pattern matches more than that: any case, any prefix, and a name hidden in the value of a cookie without a name.
 */
const likeHubCookie = /^[\s=]*(?:__host-|__secure-)?skerry/i

/** Reports whether `name=value` could be read as one of a hub's own cookies. */
export function isHubCookie(pair: string): boolean {
  return likeHubCookie.test(pair)
}

/** Returns a Cookie header without a hub's own cookies; an empty text if it has no others. */
export function withoutHubCookies(header: string): string {
  const kept = header.split(';').filter((pair) => pair.trim() !== '' && !isHubCookie(pair))
  return kept.map((pair) => pair.trim()).join('; ')
}

/** Returns an answer's headers without Set-Cookie fields that name one of a hub's own cookies. */
export function withoutSetHubCookies(headers: HeaderRecord): HeaderRecord {
  const { 'set-cookie': given, ...others } = headers
  if (given === undefined) return headers
  const kept = (typeof given === 'string' ? [given] : given).filter((each) => !isHubCookie(each))
  return kept.length === 0 ? others : { ...others, 'set-cookie': kept }
}
