import type { GroupResource, GroupVersionResource, Kind } from '@skerry/api'
import { runAll, type Clock, type Logger, type Random } from '@skerry/base'
import type { Store } from '@skerry/store'
import { WatchCache, storageKey } from './cache/watch-cache.ts'
import type { UserInfo } from './contract/access.ts'
import { isPushed, type ApiAnswer, type ApiRequest } from './contract/exchange.ts'
import type { RequestInfo } from './contract/request-info.ts'
import type { Objects } from './contract/objects.ts'
import type { ReviewHandler } from './contract/review.ts'
import { methodNotAllowed, notFoundPath } from './contract/status-answer.ts'
import type { SubresourceHandler, UpgradeSocket } from './contract/subresource.ts'
import type { HandlerDeps, ResourceCall } from './handlers/resource-call.ts'
import { serveResource } from './handlers/resource-handler.ts'
import { serveReview } from './handlers/review-call.ts'
import { serveSubresource, upgradeSubresource } from './handlers/subresource-call.ts'
import { RequestBodies } from './http/request-bodies.ts'
import type { UnreadBytes } from './http/unread-bytes.ts'
import { apiServerLimits, type ApiServerLimits } from './limits-table.ts'
import { LeasePool } from './registry/lease-pool.ts'
import { ServedKinds } from './registry/served-kinds.ts'
import { YamlReader } from './yaml/yaml-reader.ts'

export interface ReadPathDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Counts the bytes that wait for readers of watches. */
  readonly unread: UnreadBytes
}

/** The caller of one read, who may read what the request names. */
export interface CopyReader {
  readonly info: RequestInfo
  readonly user: UserInfo
  /** Ends the answer, even later. */
  readonly signal: AbortSignal
}

/** The caller of one write to a copy, and where it goes. */
export interface CopyWriter extends CopyReader {
  /** Throws Forbidden unless the user may also use this verb. */
  readonly requireVerb: (verb: string) => Promise<void>
  /** Takes the warnings for the client. */
  readonly warn: (text: string) => void
  /** Writes the object, in the place of the store that was opened. Its change must arrive there, too. */
  readonly write: Store['write']
}

/** Objects of one resource that were copied from another API server. */
export interface ObjectCopy {
  /** The copy contains every change up to this revision of the other server. */
  readonly revision: number
  /** Watches that start at this revision or later miss nothing. */
  readonly oldestRevision: number
  /** The number of open watches. */
  readonly watchCount: number
  /** Answers get, list and watch as the other server would. Throws StatusError. */
  answer(request: ApiRequest, reader: CopyReader): Promise<ApiAnswer>
  /**
   * Creates, updates, patches, applies and deletes as the other server would, as far as that depends on the request
   * and the object alone: no admission plugin and no quota of the other server is asked. Throws StatusError.
   */
  change(request: ApiRequest, writer: CopyWriter): Promise<ApiAnswer>
  /** Follows the store until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** The caller of a request that stores nothing, who may do what it names. */
export interface PartCaller extends CopyReader {
  /** Throws Forbidden unless the user may also use this verb. */
  readonly requireVerb: (verb: string) => Promise<void>
}

/** A handler of one subresource, and the objects that it looks up. */
interface PartHandler {
  readonly handler: SubresourceHandler
  readonly find: Objects['get']
}

interface PartPath {
  /** Answers a create that is never stored, such as a TokenReview. Throws StatusError. */
  review(request: ApiRequest, caller: PartCaller, handler: ReviewHandler): Promise<ApiAnswer>
  /** Answers a request for a subresource. Throws StatusError. */
  part(request: ApiRequest, caller: PartCaller, handler: PartHandler): Promise<ApiAnswer>
  /** The same for a session, which owns the client's connection. */
  upgrade(
    request: ApiRequest,
    caller: PartCaller,
    handler: PartHandler,
    client: UpgradeSocket,
  ): Promise<void>
}

/** Lists, watches, tables, selectors and bodies without the rest of an API server. */
export interface ReadPath extends PartPath, Disposable {
  kindOf(resource: GroupVersionResource): Kind | undefined
  /** Returns the kind in the version that servers store. */
  storedKindOf(resource: GroupResource): Kind | undefined
  /** Returns the store's key of the object at `namespace/name`, or `name`; an empty key makes the prefix of all. */
  keyOf(resource: GroupVersionResource, objectKey: string): string
  /** Resolves once the objects of the store are in memory. A copy is of one resource in one version. */
  open(resource: GroupVersionResource, store: Store): Promise<ObjectCopy>
}

/**
 * Serves copies of another server's objects. Each copy has revisions of its own, because a change of one resource
 * says nothing about how far the copy of another one is.
 */
export function createReadPath(
  options: { readonly kinds: readonly Kind[]; readonly limits?: Partial<ApiServerLimits> },
  deps: ReadPathDeps,
): ReadPath {
  const { clock, log } = deps
  const limits = { ...apiServerLimits, ...options.limits }
  const kinds = new ServedKinds(options.kinds)
  const yaml = new YamlReader({ limits, clock, log })
  const bodies = new RequestBodies(limits, clock)
  const shared = {
    ...deps,
    kinds,
    limits,
    yaml,
    bodies,
    admission: [],
    interceptors: {},
    watchCount: { open: 0 },
  }
  const readerOf = (resource: GroupVersionResource) => {
    const reader = kinds.find(resource)
    if (reader) return reader
    throw new RangeError(`Cannot serve a copy of ${resource.resource}: the kind is not known`)
  }
  return {
    ...partPath(shared),
    kindOf: (resource) => kinds.find(resource)?.kind,
    storedKindOf: (resource) => kinds.findStored(resource)?.kind,
    keyOf: (resource, objectKey) => storageKey(readerOf(resource).storage, objectKey),
    async open(resource, store) {
      const reader = readerOf(resource)
      const cache = new WatchCache({ store, clock, log, limits })
      await cache.load()
      const handler: HandlerDeps = { ...shared, store, cache, leases: new LeasePool(store, clock) }
      const objects = () => cache.resource(reader.storage)
      return {
        get revision() {
          return cache.revision
        },
        get oldestRevision() {
          return objects().oldestRevision
        },
        get watchCount() {
          return objects().listenerCount
        },
        answer: (request, { info, user, signal }) =>
          answered({ request, info, user, signal, reader }, handler),
        change: (request, { info, user, signal, ...writer }) =>
          changed({ request, info, user, signal, reader }, writer, handler),
        run: (signal) =>
          runAll(signal, [(scope) => cache.run(scope), (scope) => cache.runBookmarks(scope)]),
      }
    },
    [Symbol.dispose]() {
      yaml[Symbol.dispose]()
      bodies[Symbol.dispose]()
    },
  }
}

/** Requests that store nothing need no copy. */
function partPath(deps: Omit<HandlerDeps, 'store' | 'cache' | 'leases'>): PartPath {
  const callOf = (request: ApiRequest, { info, ...caller }: PartCaller): ResourceCall => {
    const reader = deps.kinds.find(info.resource)
    // Only a proxy has a further path, and only a watch has its verb in the path.
    const isPlain = info.name !== '' && info.restOfPath === '' && !info.isVerbInPath
    if (!reader || (info.subresource !== '' && !isPlain)) throw notFoundPath()
    return { request, info, ...caller, reader, warn: () => undefined }
  }
  return {
    review: (request, caller, handler) => serveReview(handler, callOf(request, caller), deps),
    part: (request, caller, { handler, find }) =>
      serveSubresource(handler, callOf(request, caller), { ...deps, objects: onlyReads(find) }),
    upgrade(request, caller, { handler, find }, client) {
      const call = callOf(request, caller)
      return upgradeSubresource(handler, call, client, { ...deps, objects: onlyReads(find) })
    },
  }
}

/** Returns objects that one reads by name; handlers of subresources here need no more. */
function onlyReads(get: Objects['get']): Objects {
  const unable = (): never => {
    throw new TypeError('Cannot use objects of another server: they can only be read by name')
  }
  return {
    get,
    unreadable: () => undefined,
    list: unable,
    version: unable,
    create: unable,
    update: unable,
    apply: unable,
    delete: unable,
  }
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

type CopyCall = Pick<
  Parameters<typeof serveResource>[0],
  'request' | 'info' | 'user' | 'signal' | 'reader'
>

async function answered(call: CopyCall, deps: HandlerDeps): Promise<ApiAnswer> {
  if (!readVerbs.has(call.info.verb) || call.info.subresource !== '') throw methodNotAllowed()
  const requireVerb = (): Promise<void> => Promise.resolve()
  const answer = await serveResource({ ...call, warn: () => undefined, requireVerb }, deps)
  const mayStay = !isPushed(answer.body) && Symbol.asyncIterator in answer.body
  return { ...answer, reader: { user: call.user.name, mayStay } }
}

const writeVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

async function changed(
  call: CopyCall,
  { write, requireVerb, warn }: Pick<CopyWriter, 'write' | 'requireVerb' | 'warn'>,
  deps: HandlerDeps,
): Promise<ApiAnswer> {
  if (!writeVerbs.has(call.info.verb) || call.info.subresource !== '') throw methodNotAllowed()
  const store = withWrite(deps.store, write)
  return await serveResource({ ...call, warn, requireVerb }, { ...deps, store })
}

/** Returns the same store with another way to write. */
function withWrite(store: Store, write: Store['write']): Store {
  return {
    revision: () => store.revision(),
    get: (key, revision) => store.get(key, revision),
    list: (options) => store.list(options),
    watch: (options, signal) => store.watch(options, signal),
    compact: (revision) => store.compact(revision),
    compactedRevision: () => store.compactedRevision(),
    grantLease: (ttlSeconds) => store.grantLease(ttlSeconds),
    keepLeaseAlive: (leaseId) => store.keepLeaseAlive(leaseId),
    revokeLease: (leaseId) => store.revokeLease(leaseId),
    write,
    // The store belongs to the one who opened it.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}
