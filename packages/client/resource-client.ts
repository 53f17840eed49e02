import { isStatusError, type AnyObject, type KubeList, type KubeObject } from '@skerry/api'
import type { Clock } from '@skerry/base'
import { clientLimits } from './limits-table.ts'
import {
  collectionPath,
  objectPath,
  type ObjectKey,
  type Query,
  type ResourceRef,
} from './request-path.ts'
import { checkListLength, readList, readObject } from './read-object.ts'
import { watchEvents, type WatchEvent, type WatchRequest } from './watch-events.ts'

/** Connects a resource client to the server; cluster.ts creates it. */
export interface Caller {
  readonly clock: Pick<Clock, 'setTimer'>
  call(request: CallRequest, signal: AbortSignal): Promise<unknown>
  open(request: CallRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

export interface CallRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: Query
  body?: unknown
  contentType?: string
  accept?: string
}

export interface Selectors {
  labelSelector?: string
  fieldSelector?: string
}

export interface ListRequest extends Selectors {
  /** If omitted, all namespaces. */
  namespace?: string
  resourceVersion?: string
  resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** The number of objects per page. Default: 500. */
  pageObjectsMax?: number
}

export interface WriteOptions {
  fieldManager?: string
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  isDryRun?: boolean
}

const patchContentTypes = Object.freeze({
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
})

export interface PatchRequest extends ObjectKey, WriteOptions {
  type: keyof typeof patchContentTypes
  /** The content of the patch: an array of operations for json, otherwise a (partial) object. */
  patch: unknown
  /** For apply only: take fields over from other managers. */
  force?: boolean
  subresource?: string
}

export interface DeleteOptions {
  gracePeriodSeconds?: number
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  preconditions?: { uid?: string; resourceVersion?: string }
  isDryRun?: boolean
}

export interface SubresourceRequest extends ObjectKey, WriteOptions {
  /** binding, eviction, token, scale, … */
  subresource: string
}

/**
 * The verbs of one resource. An answer other than 2xx rejects with its StatusError; no answer at
 * all rejects with the transport's error. Nothing here retries.
 */
export interface ResourceClient<T extends KubeObject> {
  readonly resource: ResourceRef
  get(key: ObjectKey, signal: AbortSignal): Promise<T>
  /** Returns all objects, read page by page. Starts over without pages if the continue token expires. */
  list(request: ListRequest, signal: AbortSignal): Promise<KubeList<T>>
  /**
   * Returns one page at a time, for callers that keep little of each. Rejects with Expired in the
   * middle of a list.
   */
  pages(request: ListRequest, signal: AbortSignal): AsyncIterable<KubeList<T>>
  create(object: T, signal: AbortSignal, options?: WriteOptions): Promise<T>
  update(object: T, signal: AbortSignal, options?: WriteOptions): Promise<T>
  updateStatus(object: T, signal: AbortSignal, options?: WriteOptions): Promise<T>
  patch(request: PatchRequest, signal: AbortSignal): Promise<T>
  patchStatus(request: PatchRequest, signal: AbortSignal): Promise<T>
  /** Resolves to the server's answer: the object as it was or is now, or a Status. */
  delete(key: ObjectKey & DeleteOptions, signal: AbortSignal): Promise<AnyObject>
  deleteCollection(request: ListRequest & DeleteOptions, signal: AbortSignal): Promise<void>
  getSubresource(request: SubresourceRequest, signal: AbortSignal): Promise<AnyObject>
  createSubresource(
    request: SubresourceRequest & { body: unknown },
    signal: AbortSignal,
  ): Promise<AnyObject>
  updateSubresource(
    request: SubresourceRequest & { body: unknown },
    signal: AbortSignal,
  ): Promise<AnyObject>
  /** Ends when the server ends it (by time). Rejects with the StatusError of its ERROR event. */
  watch(request: WatchRequest, signal: AbortSignal): AsyncIterable<WatchEvent<T>>
}

export interface ResourceClientOptions {
  /** Requests metadata only (PartialObjectMetadata); for reads only. */
  isMetadataOnly?: boolean
}

export function createResourceClient<T extends KubeObject>(
  caller: Caller,
  resource: ResourceRef,
  options: ResourceClientOptions = {},
): ResourceClient<T> {
  const isPartial = options.isMetadataOnly === true
  const call = async (request: CallRequest, signal: AbortSignal): Promise<T> =>
    readObject<T>(await caller.call(request, signal))
  const callAny = async (request: CallRequest, signal: AbortSignal): Promise<AnyObject> =>
    (await caller.call(request, signal)) as AnyObject // every 2xx answer of the API is an object
  const write = (method: 'POST' | 'PUT', path: string, body: unknown, options?: WriteOptions) => ({
    method,
    path,
    body,
    query: writeQuery(options ?? {}),
  })
  const pathOf = (object: T, subresource?: string): string =>
    objectPath(resource, keyOf(object), subresource)
  const patch = (request: PatchRequest, signal: AbortSignal): Promise<T> =>
    call(patchCall(resource, request), signal)
  const pages = (request: ListRequest, signal: AbortSignal): AsyncIterable<KubeList<T>> =>
    readPages<T>(caller, { resource, isPartial, list: request }, signal)
  return {
    resource,
    get: (key, signal) =>
      call(
        { method: 'GET', path: objectPath(resource, key), ...acceptOf(isPartial, 'one') },
        signal,
      ),
    list: (request, signal) => readAll<T>(pages, request, signal),
    pages,
    create: (object, signal, options) =>
      call(
        write('POST', collectionPath(resource, object.metadata.namespace), object, options),
        signal,
      ),
    update: (object, signal, options) =>
      call(write('PUT', pathOf(object), object, options), signal),
    updateStatus: (object, signal, options) =>
      call(write('PUT', pathOf(object, 'status'), object, options), signal),
    patch,
    patchStatus: (request, signal) => patch({ ...request, subresource: 'status' }, signal),
    delete: ({ namespace, name, ...options }, signal) =>
      callAny(
        {
          method: 'DELETE',
          path: objectPath(resource, { ...(namespace ? { namespace } : {}), name }),
          body: deleteBody(options),
        },
        signal,
      ),
    async deleteCollection(request, signal) {
      await caller.call(deleteCollectionCall(resource, request), signal)
    },
    getSubresource: (request, signal) =>
      callAny({ method: 'GET', path: objectPath(resource, request, request.subresource) }, signal),
    createSubresource: ({ body, ...request }, signal) =>
      callAny(
        write('POST', objectPath(resource, request, request.subresource), body, request),
        signal,
      ),
    updateSubresource: ({ body, ...request }, signal) =>
      callAny(
        write('PUT', objectPath(resource, request, request.subresource), body, request),
        signal,
      ),
    watch: (request, signal) =>
      watchEvents<T>(caller, { resource, watch: request, ...acceptOf(isPartial, 'one') }, signal),
  }
}

function keyOf(object: KubeObject): ObjectKey {
  const { name = '', namespace } = object.metadata
  return { name, ...(namespace ? { namespace } : {}) }
}

/** A server that cannot make partial objects sends whole ones, which contain the metadata, too. */
function acceptOf(isPartial: boolean, shape: 'one' | 'list'): { accept?: string } {
  if (!isPartial) return {}
  const kind = shape === 'one' ? 'PartialObjectMetadata' : 'PartialObjectMetadataList'
  return { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json` }
}

function writeQuery(options: WriteOptions): Query {
  return {
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
    dryRun: options.isDryRun ? 'All' : undefined,
  }
}

function patchCall(resource: ResourceRef, request: PatchRequest): CallRequest {
  return {
    method: 'PATCH',
    path: objectPath(resource, request, request.subresource),
    body: request.patch,
    contentType: patchContentTypes[request.type],
    query: { ...writeQuery(request), force: request.force },
  }
}

function deleteBody(options: DeleteOptions): unknown {
  const { gracePeriodSeconds, propagationPolicy, preconditions, isDryRun } = options
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy ? { propagationPolicy } : {}),
    ...(preconditions ? { preconditions } : {}),
    ...(isDryRun ? { dryRun: ['All'] } : {}),
  }
}

function deleteCollectionCall(
  resource: ResourceRef,
  request: ListRequest & DeleteOptions,
): CallRequest {
  return {
    method: 'DELETE',
    path: collectionPath(resource, request.namespace),
    query: { labelSelector: request.labelSelector, fieldSelector: request.fieldSelector },
    body: deleteBody(request),
  }
}

interface PagesOf {
  resource: ResourceRef
  isPartial: boolean
  list: ListRequest
}

async function* readPages<T extends KubeObject>(
  caller: Caller,
  { resource, isPartial, list }: PagesOf,
  signal: AbortSignal,
): AsyncGenerator<KubeList<T>, void, undefined> {
  const { listPagesMax, pageObjectsMax } = clientLimits
  let next: string | undefined
  let pages = 0
  let objects = 0
  do {
    const isFirst = next === undefined
    const query: Query = {
      labelSelector: list.labelSelector,
      fieldSelector: list.fieldSelector,
      limit: list.pageObjectsMax ?? pageObjectsMax,
      continue: next,
      resourceVersion: isFirst ? list.resourceVersion : undefined,
      resourceVersionMatch: isFirst ? list.resourceVersionMatch : undefined,
    }
    const path = collectionPath(resource, list.namespace)
    const request: CallRequest = { method: 'GET', path, query, ...acceptOf(isPartial, 'list') }
    const page = readList<T>(await caller.call(request, signal))
    pages += 1
    objects += page.items.length
    checkListLength(objects)
    if (pages > listPagesMax)
      throw new Error('Cannot read list: the server has pages without an end')
    yield withItemKinds(page)
    next = page.metadata.continue
  } while (next)
}

/** Servers omit kind and apiVersion from a typed list's items; here every object has them. */
function withItemKinds<T extends KubeObject>(page: KubeList<T>): KubeList<T> {
  const kind = page.kind.replace(/List$/, '')
  const items = page.items.map((item) =>
    item.kind ? item : { ...item, apiVersion: page.apiVersion, kind },
  )
  return { ...page, items }
}

async function readAll<T extends KubeObject>(
  pages: (request: ListRequest, signal: AbortSignal) => AsyncIterable<KubeList<T>>,
  request: ListRequest,
  signal: AbortSignal,
): Promise<KubeList<T>> {
  let all: KubeList<T> | undefined
  try {
    for await (const page of pages(request, signal)) {
      if (all) for (const item of page.items) all.items.push(item)
      else all = page
    }
  } catch (error) {
    if (!all || !(isStatusError(error, 'Expired') || isStatusError(error, 'Gone'))) throw error
    return readAll(pages, { ...request, pageObjectsMax: 0 }, signal)
  }
  // A server answers at least one page. The remaining count only applied to the first one.
  if (!all) throw new Error('Cannot list: the server sent no page')
  return { ...all, metadata: { resourceVersion: all.metadata.resourceVersion ?? '' } }
}
