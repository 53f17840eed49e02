import { isTrue, type RequestInfo } from '@skerry/apiserver'

/** The part that a copy may have in an answer. */
export type CopyUse =
  /** Only the control plane can answer. */
  | 'never'
  /** The control plane answers while it is there, and a copy is made for later. */
  | 'later'
  /** A copy answers if it was made for this request, and is therefore as new as the control plane. */
  | 'if-new'
  /** A copy that follows the control plane answers. */
  | 'if-following'

/** Returns true for a request that can change nothing. */
export function isRead({ method }: RequestInfo): boolean {
  return method === 'GET' || method === 'HEAD'
}

/**
 * Decides whether a list or watch may be answered from a copy while the control plane answers. Lists that ask for the
 * newest state go to it. A watch from a version goes on in the copy, whose history has the same versions.
 */
export function copyUse(info: RequestInfo): CopyUse {
  const { verb, query, subresource, name } = info
  if (!info.isResourceRequest || subresource !== '' || name !== '' || info.isVerbInPath)
    return 'never'
  if (verb === 'watch') return 'if-following'
  if (verb !== 'list' || info.method !== 'GET') return 'never'
  const version = query.get('resourceVersion') ?? ''
  const isExact = query.get('resourceVersionMatch') === 'Exact'
  if (query.has('continue') || isExact) return 'later'
  if (version !== '')
    return (query.get('limit') ?? '0') === '0' || version === '0' ? 'if-following' : 'later'
  return query.has('limit') ? 'later' : 'if-new'
}

/** The version from which a watch asks for events; 0 if it begins with the objects. */
export function watchFrom({ query }: RequestInfo): number {
  const version = Number(query.get('resourceVersion') ?? '0')
  const wantsObjects = isTrue(query.get('sendInitialEvents'))
  return Number.isSafeInteger(version) && !wantsObjects ? version : 0
}
