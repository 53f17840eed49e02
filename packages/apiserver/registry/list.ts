import { StatusError, type Kind } from '@skerry/api'
import { giveWay } from '@skerry/base'
import { CompactedError, FutureRevisionError, type Entry } from '@skerry/store'
import { CachedObject } from '../cache/cached-object.ts'
import { hasSelectors, selects, type Selection } from '../cache/selection.ts'
import { unreadableReason } from '../cache/unreadable-value.ts'
import { storageKey } from '../cache/watch-cache.ts'
import { anyRevision, encodeContinue, parseContinue } from './continue-token.ts'
import { parseResourceVersion, waitForVersion } from './read.ts'
import { badRequest, expired, internalError } from './registry-errors.ts'
import type { RegistryDeps, RequestScope } from './request-scope.ts'

export interface ListOptions {
  readonly selection: Selection
  /** The largest number of items; 0 means no limit. */
  readonly limit: number
  readonly continueToken: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan'
}

export interface ListPage {
  readonly items: readonly CachedObject[]
  readonly revision: number
  /** True if the list was computed for this request and is not based on stored objects. */
  readonly isUnversioned?: boolean
  readonly continueToken?: string
  readonly remaining?: number
}

/** Returns one page of objects, consistent with the pages before it. */
export async function listObjects(
  options: ListOptions,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<ListPage> {
  if (options.continueToken !== '') return continueList(options, scope, deps)
  const { resourceVersion, limit } = options
  const revision = parseResourceVersion(resourceVersion)
  const isExact =
    options.resourceVersionMatch === 'Exact' ||
    (options.resourceVersionMatch === '' && limit > 0 && revision > 0)
  await waitForVersion(resourceVersion, scope.signal, deps)
  if (isExact && !isUnchangedSince(revision, scope, deps)) {
    return historicPage({ options, revision, after: '' }, scope, deps)
  }
  // Lists "of any age" are for caches that want everything at once.
  const pageLimit = resourceVersion === '0' ? 0 : limit
  const page = {
    options: { ...options, limit: pageLimit },
    revision: deps.cache.revision,
    after: '',
  }
  return currentPage(page, scope, deps)
}

async function continueList(
  options: ListOptions,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<ListPage> {
  const token = parseContinue(options.continueToken)
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  if (token.revision === anyRevision) {
    await deps.cache.fresh(scope.signal)
    return currentPage({ options, revision: deps.cache.revision, after: token.after }, scope, deps)
  }
  await deps.cache.waitFor(token.revision, scope.signal)
  if (isUnchangedSince(token.revision, scope, deps)) {
    return currentPage({ options, ...token }, scope, deps)
  }
  return historicPage({ options, revision: token.revision, after: token.after }, scope, deps)
}

/** Returns true if the cache holds the same objects as at that revision. */
function isUnchangedSince(revision: number, scope: RequestScope, deps: RegistryDeps): boolean {
  const resource = deps.cache.resource(scope.reader.storage)
  return revision <= deps.cache.revision && resource.version <= revision
}

async function currentPage(
  { options, revision, after }: PagePlace,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<ListPage> {
  const { selection, limit } = options
  const { reader } = scope
  const resource = deps.cache.resource(reader.storage)
  requireReadable(resource.firstUnreadable(selection.namespace), reader)
  const all = resource.list(selection.namespace)
  const isWhole = selection.name === '' && !hasSelectors(selection)
  const rest = after === '' ? all : all.filter(({ key }) => key > after)
  if (hasSelectors(selection)) await reader.prepare?.(rest, scope.signal)
  if (limit === 0 && isWhole) return { items: rest, revision }
  const items: CachedObject[] = []
  for (const [at, item] of rest.entries()) {
    // Matching thousands of terms with thousands of objects takes long. The list is a copy, as of
    // `revision`.
    const others = isWhole ? undefined : giveWay(deps.clock)
    if (others) {
      await others
      scope.signal.throwIfAborted()
    }
    if (!isWhole && !selects(selection, item, reader)) continue
    items.push(item)
    const left = isOne(selection, reader.kind) ? 0 : rest.length - at - 1
    // There may be more, whether or not any of it is selected: like upstream, the server does not
    // look ahead.
    if (items.length === limit && left > 0) {
      return cutPage(items, { revision, remaining: isWhole ? left : undefined })
    }
    if (items.length === limit) break
  }
  return { items, revision }
}

/** Returns true if at most one object can match, because its name is given. */
function isOne({ name, namespace, fields }: Selection, { isNamespaced }: Kind): boolean {
  const isGiven = (field: string): boolean =>
    fields.some((term) => term.field === field && term.operator === '=')
  if (name === '' && !isGiven('metadata.name')) return false
  return !isNamespaced || namespace !== '' || isGiven('metadata.namespace')
}

/** A list that silently lacked an object would be taken for complete. */
function requireReadable(
  found: { key: string; reason: string } | undefined,
  { storage }: RequestScope['reader'],
): void {
  if (!found) return
  const key = JSON.stringify(storageKey(storage, found.key))
  throw internalError(`unable to transform key ${key}: ${found.reason}`)
}

function cutPage(
  items: readonly CachedObject[],
  page: { revision: number; remaining: number | undefined },
): ListPage {
  const after = items.at(-1)?.key ?? ''
  return {
    items,
    revision: page.revision,
    continueToken: encodeContinue({ revision: page.revision, after }),
    ...(page.remaining === undefined ? {} : { remaining: page.remaining }),
  }
}

/** The start of a page and its revision. */
interface PagePlace {
  options: ListOptions
  revision: number
  after: string
}

/** Reads the page from the store, as of a revision. */
async function historicPage(
  { options, revision, after }: PagePlace,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<ListPage> {
  const { selection, limit } = options
  const { reader } = scope
  const isWhole = selection.name === '' && !hasSelectors(selection)
  const base = storageKey(reader.storage, '')
  const prefix = selection.namespace === '' ? base : `${base}${selection.namespace}/`
  const items: CachedObject[] = []
  let from = after === '' ? undefined : `${base}${after}`
  for (;;) {
    const page = await readHistory(
      deps,
      { continued: after },
      {
        prefix,
        revision,
        limit: limit === 0 ? deps.limits.loadPageEntries : limit + 1,
        ...(from === undefined ? {} : { after: from }),
      },
    )
    for (const [at, entry] of page.entries.entries()) {
      const reason = unreadableReason(entry)
      if (reason !== undefined) {
        requireReadable({ key: entry.key.slice(base.length), reason }, reader)
      }
      const item = cachedEntry(entry, base)
      if (hasSelectors(selection)) await reader.prepare?.([item], scope.signal)
      if (!isWhole && !selects(selection, item, reader)) continue
      items.push(item)
      if (limit === 0 || items.length < limit) continue
      const left = page.entries.length - at - 1 + page.remaining
      if (left === 0 || isOne(selection, reader.kind)) return { items, revision }
      return cutPage(items, { revision, remaining: isWhole ? left : undefined })
    }
    from = page.entries.at(-1)?.key
    if (!page.more || from === undefined) return { items, revision }
  }
}

async function readHistory(
  deps: RegistryDeps,
  { continued }: { continued: string },
  options: Parameters<RegistryDeps['store']['list']>[0],
) {
  try {
    return await deps.store.list(options)
  } catch (error) {
    if (error instanceof CompactedError) throw historyGone(continued)
    if (error instanceof FutureRevisionError) throw badRequest(error.message)
    throw error
  }
}

/** A client in the middle of a list may get the rest in its current state. */
function historyGone(after: string): StatusError {
  if (after === '') return expired('The resourceVersion for the provided list is too old.')
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'
  const continueToken = encodeContinue({ revision: anyRevision, after })
  return new StatusError('Expired', message, { continueToken })
}

function cachedEntry(entry: Entry, base: string): CachedObject {
  return new CachedObject(entry.key.slice(base.length), {
    value: entry.value,
    revision: entry.modRevision,
    createRevision: entry.createRevision,
  })
}
