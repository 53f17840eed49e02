import { isTrue } from '@skerry/apiserver'
import type { TunnelRequest } from '@skerry/tunnel'

/** The class of a request. There are few, so that each may be a label. */
export type RequestClass = 'read' | 'watch' | 'write' | 'session'

export function requestClass({ method, path }: TunnelRequest, isUpgrade: boolean): RequestClass {
  if (isUpgrade) return 'session'
  if (method !== 'GET' && method !== 'HEAD') return 'write'
  const query = new URLSearchParams(path.split('?', 2)[1])
  const isFollowing = ['watch', 'follow'].some((name) => isTrue(query.get(name)))
  return isFollowing ? 'watch' : 'read'
}
