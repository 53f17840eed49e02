import { exactFieldValue, parseFieldSelector, parseLabelSelector, StatusError } from '@skerry/api'
import type { Attributes } from './access.ts'
import type { RequestInfo } from './request-info.ts'
import { notFoundPath } from './status-answer.ts'

/** The question to authorizers about a request, without the user who sends it. */
export type RequestAttributes = Omit<Attributes, 'user'>

/** Verbs that read selectors. */
const selecting: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

/**
 * Says what a request asks for, as upstream says it to its authorizers. Everything that decides about a
 * request of this API must ask with these attributes, or the same request has two meanings. Throws
 * BadRequest or NotFound where nobody can say what a path names.
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
 * The one name that a list or watch can return: nodes follow their pods' objects so. No other verb takes
 * a name from a selector, since a create ignores it and makes an object of any name.
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
    // The handler refuses what it cannot read, with the reason. Until then it names nothing.
    return ''
  }
}

/** Options of a list that upstream refuses to read, and with them the name that stands beside them. */
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
