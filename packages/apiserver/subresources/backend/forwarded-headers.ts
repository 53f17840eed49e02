import { withoutHubCookies } from '../../contract/hub-cookies.ts'

/** Headers that end at this server: credentials, and those that belong to one hop. */
const ownHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'host',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
])

/** Returns the request headers that are passed on to a pod or service, which may have cookies of its own. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const isUpgrade = headers.upgrade !== undefined
  const kept = Object.entries(headers).filter(([name]) => {
    if (name.startsWith(':') || name.startsWith('impersonate-') || ownHeaders.has(name))
      return false
    return isUpgrade || (name !== 'connection' && name !== 'upgrade')
  })
  // A token in a WebSocket subprotocol is a credential, too.
  const protocols = headers['sec-websocket-protocol']
  const withoutToken = protocols
    ?.split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith('base64url.bearer.authorization.k8s.io.'))
  const cookies = withoutHubCookies(headers['cookie'] ?? '')
  return {
    ...Object.fromEntries(kept),
    ...(cookies === '' ? {} : { cookie: cookies }),
    ...(withoutToken ? { 'sec-websocket-protocol': withoutToken.join(', ') } : {}),
  }
}

/** Returns the same for a kubelet or an extension server: no API reads cookies. */
export function forwardedToApi(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { cookie: _, ...kept } = forwardedHeaders(headers)
  return kept
}
