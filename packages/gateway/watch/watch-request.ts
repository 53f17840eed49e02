import { isTrue, parseRequestInfo } from '@skerry/apiserver'
import type { TunnelRequest } from '@skerry/tunnel'
import type { WatchStart } from './watch-position.ts'

/** A watch as the client asked for it. */
export interface WatchRequest extends WatchStart {
  /** The client wants to see bookmarks. */
  readonly wantsBookmarks: boolean
  /** The value 0 lets the server decide. */
  readonly timeoutSeconds: number
  /** The first request of the watch. */
  readonly first: TunnelRequest
  /** Returns the request that continues from a version, `timeoutSeconds` before its end. */
  resumed(version: string, timeoutSeconds: number): TunnelRequest
}

/** The parameters that determine where a watch starts and how long it lasts. */
const startNames: ReadonlySet<string> = new Set([
  'allowWatchBookmarks',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
])

/** Reports whether this requests a watch over HTTP from a cluster. */
export function isWatch({ method, path }: Pick<TunnelRequest, 'method' | 'path'>): boolean {
  // Parsing a path costs a fortieth of a request, and most do not contain this word.
  if (method !== 'GET' || !path.includes('watch')) return false
  return parseRequestInfo(method, path).verb === 'watch'
}

/**
 * Reads a watch, and adds bookmarks if the client did not request them: they mark its position while nothing
 * happens. It adds none to a watch of Tables: the first event of those describes the columns, even if it is a
 * bookmark that the client will not see.
 */
export function readWatchRequest(request: TunnelRequest): WatchRequest {
  const [path = '', ...queries] = request.path.split('?')
  const pairs = queries.join('?').split('&')
  const query = new URLSearchParams(queries.join('?'))
  const wantsBookmarks = isTrue(query.get('allowWatchBookmarks'))
  const sendInitialEvents = query.get('sendInitialEvents')
  // Upstream does not compress watches, and a compressed one could not be followed.
  const { 'accept-encoding': _, ...headers } = request.headers
  const asked = (dropped: ReadonlySet<string>, added: Record<string, string>): TunnelRequest => {
    const kept = pairs.filter((pair) => pair !== '' && !dropped.has(nameOf(pair)))
    const more = Object.entries(added).map(
      ([name, value]) => `${name}=${encodeURIComponent(value)}`,
    )
    return { ...request, headers, path: `${path}?${[...kept, ...more].join('&')}` }
  }
  const asksForBookmarks = wantsBookmarks || !wantsTables(request)
  const bookmarks: Record<string, string> = asksForBookmarks ? { allowWatchBookmarks: 'true' } : {}
  return {
    resourceVersion: query.get('resourceVersion') ?? '',
    sendInitialEvents: sendInitialEvents === null ? undefined : isTrue(sendInitialEvents),
    wantsBookmarks,
    timeoutSeconds: secondsOf(query.get('timeoutSeconds')),
    first: asked(new Set(asksForBookmarks ? ['allowWatchBookmarks'] : []), bookmarks),
    resumed: (version, timeoutSeconds) =>
      asked(startNames, {
        ...bookmarks,
        resourceVersion: version,
        ...(timeoutSeconds > 0 ? { timeoutSeconds: String(timeoutSeconds) } : {}),
      }),
  }
}

function wantsTables({ headers }: TunnelRequest): boolean {
  const { accept = '' } = headers
  return /;\s*as=Table\b/i.test(typeof accept === 'string' ? accept : accept.join(','))
}

function nameOf(pair: string): string {
  const [name = ''] = pair.split('=', 1)
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    // The name is malformed, so it is not one of ours.
    return name
  }
}

/** The server itself refuses a value that is not a whole number. */
function secondsOf(text: string | null): number {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : 0
}
