import type { TunnelRequest } from '@skerry/tunnel'

/** What sort of request it is; few, so that each may be a label. */
export type RequestClass = 'read' | 'watch' | 'write' | 'session'

export function requestClass({ method, path }: TunnelRequest, isUpgrade: boolean): RequestClass {
  if (isUpgrade) return 'session'
  if (method !== 'GET' && method !== 'HEAD') return 'write'
  const query = new URLSearchParams(path.split('?', 2)[1])
  const isFollowing = ['watch', 'follow'].some((name) => isTrue(query.get(name)))
  return isFollowing ? 'watch' : 'read'
}

/** As Go's strconv.ParseBool reads it, which is what API servers do. */
function isTrue(value: string | null): boolean {
  return value !== null && ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)
}
