import { exactFieldValue, parseFieldSelector, parseLabelSelector, StatusError } from '@skerry/api'
import type { Attributes } from './access.ts'
import type { RequestInfo } from './request-info.ts'
import { notFoundPath } from './status-answer.ts'

/** The attributes of a request for authorizers, without its user. */
export type RequestAttributes = Omit<Attributes, 'user'>

/** The verbs that read selectors. */
const selecting: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

/**
 * Returns what a request asks for, as upstream's attributes for its authorizers. Everything that
 * decides about a request must use these attributes, or the same request has two meanings. Throws
 * BadRequest or NotFound if it is unclear what a path names.
 */
export function requestAttributes(info: RequestInfo): RequestAttributes {
  const { verb, path } = info
  if (info.isUnreadable) throw unreadablePath(info)
  if (!info.isResourceRequest) return { verb, path, isResourceRequest: false }
  const selectors = !info.isVerbInPath && selecting.has(verb) ? selectorsOf(info.query) : {}
  return {
    verb,
    path,
    isResourceRequest: true,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name === '' ? selectedName(info) : info.name,
    ...selectors,
  }
}

function unreadablePath({ isVerbInPath, path }: RequestInfo): StatusError {
  if (isVerbInPath) return notFoundPath()
  const message = `Cannot read path ${JSON.stringify(path)}: it has a malformed escape`
  return new StatusError('BadRequest', message)
}

function selectorsOf(
  query: URLSearchParams,
): Pick<RequestAttributes, 'fieldSelector' | 'labelSelector'> {
  const fieldSelector = query.get('fieldSelector')
  const labelSelector = query.get('labelSelector')
  return {
    ...(fieldSelector === null ? {} : { fieldSelector }),
    ...(labelSelector === null ? {} : { labelSelector }),
  }
}

/**
 * Returns the only name that a list or watch can return; nodes follow their pods' objects this way.
 * Other verbs take no name from a selector, since a create ignores it and makes an object of any
 * name.
 */
function selectedName({ query, verb, isVerbInPath }: RequestInfo): string {
  if (isVerbInPath || (verb !== 'list' && verb !== 'watch')) return ''
  const fieldSelector = query.get('fieldSelector')
  if (fieldSelector === null) return ''
  try {
    if (!hasReadableNumbers(query)) return ''
    parseLabelSelector(query.get('labelSelector') ?? '')
    const name = exactFieldValue(parseFieldSelector(fieldSelector), 'metadata.name') ?? ''
    return isPathSegment(name) ? name : ''
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    // The handler refuses an unreadable selector with the reason. Here it names nothing.
    return ''
  }
}

/**
 * Checks the list options that upstream refuses if unreadable; a name in the selector next to them
 * is then ignored.
 */
function hasReadableNumbers(query: URLSearchParams): boolean {
  return ['limit', 'timeoutSeconds'].every((key) => {
    const text = query.get(key)
    return text === null || isInt64(text)
  })
}

const int64Max = 2n ** 63n - 1n

function isInt64(text: string): boolean {
  if (!/^[+-]?\d+$/.test(text)) return false
  const value = BigInt(text.replace('+', ''))
  return value <= int64Max && value >= -int64Max - 1n
}

function isPathSegment(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/%]/.test(name)
}
