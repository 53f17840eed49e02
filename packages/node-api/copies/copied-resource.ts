import { isStatusError, type AnyObject, type GroupResource } from '@skerry/api'
import type { ObjectCopy, ReadPath } from '@skerry/apiserver'
import {
  asError,
  createBackoff,
  createWakeFlag,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { encodeCanonical } from '@skerry/bodies'
import {
  anyObjects,
  createCluster,
  type CredentialSource,
  type HttpsTransport,
  type ResourceClient,
} from '@skerry/client'
import type { Link } from '../link/link.ts'
import { nodeApiBounds } from '../limits-table.ts'
import { CopiedStore } from './copied-store.ts'
import { DamagedCopyError, type CopyFile, type StoredScope } from './copy-file.ts'
import { planRelist, type CopyEvent, type ListedObject } from './plan-relist.ts'
import { scopeText, type Scope } from './scope.ts'

const { retry, refusedMs } = nodeApiBounds.copiedResource
const { copyBytesMax } = nodeApiBounds.copySet

export interface CopiedResourceDeps {
  readonly file: CopyFile
  readonly readPath: ReadPath
  readonly link: Link
  /** The writes of this node that the control plane does not have yet. */
  readonly journal: WaitingWrites
  /** Opens the way to the control plane with these credentials; if omitted, with the node's own. */
  readonly open: (credentials?: CredentialSource) => HttpsTransport
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly userAgent: string
}

export interface WaitingWrites {
  /** Returns true if there are writes of the resource. */
  holds(resource: GroupResource): boolean
}

/** Reports that a resource is too large to be copied. */
export class CopyTooLargeError extends Error {
  override name = 'CopyTooLargeError'
}

/** Reports that the reader who wanted a copy may not list and watch. */
export class CopyRefusedError extends Error {
  override name = 'CopyRefusedError'
}

/**
 * Follows one resource of the control plane with one list and one watch, for all its readers on this node. It asks
 * with the token of a reader, so that the node learns nothing that its pods could not, or with the node's own identity
 * for what an operator named.
 */
export class CopiedResource {
  readonly scope: Scope
  readonly id: number
  /** True if an operator named it: it stays when others go. */
  readonly isKept: boolean
  usedAtMs: number
  /** When the control plane was last heard of it, in milliseconds since the Unix epoch. */
  readAtMs: number
  bytes: number
  readonly #deps: CopiedResourceDeps
  readonly #store: CopiedStore
  readonly #opened = Promise.withResolvers<ObjectCopy>()
  readonly #wake = createWakeFlag()
  #copy: ObjectCopy | undefined
  #revision: number
  #token: string | undefined
  #mayAskAsNode: boolean
  #isFollowing = false
  #isAhead: boolean
  /** True if the control plane has no history from the copy's revision on. */
  #isExpired = false
  /** Ends what is asked of the control plane now. */
  #asking: AbortController | undefined

  constructor(
    { scope, stored, isKept }: { scope: Scope; stored: StoredScope; isKept: boolean },
    deps: CopiedResourceDeps,
  ) {
    this.scope = scope
    this.id = stored.id
    this.isKept = isKept
    this.#mayAskAsNode = isKept
    this.usedAtMs = deps.clock.now()
    this.readAtMs = stored.readAtMs
    this.bytes = stored.bytes
    this.#revision = stored.revision
    this.#isAhead = stored.isAhead
    this.#deps = deps
    this.#store = new CopiedStore({
      revision: () => this.#revision,
      objects: (page) => deps.file.objects(this.id, page),
      keyOf: (key) => deps.readPath.keyOf(scope.resource, key),
    })
    this.#opened.promise.catch(() => undefined)
  }

  /** The objects, once there are any to answer from. */
  get copy(): ObjectCopy | undefined {
    return this.#copy
  }

  /** True while the control plane reports every change. */
  get isFollowing(): boolean {
    return this.#isFollowing
  }

  /** True while the copy contains changes of this node that are not part of the control plane's history. */
  get isAhead(): boolean {
    return this.#isAhead
  }

  /** The newest revision that readers see; 0 if there is nothing to read. */
  get revision(): number {
    return this.#revision
  }

  /** Shows a change of this node, which is in the journal. The copy follows again once the control plane has it. */
  change(event: CopyEvent): void {
    const { file } = this.#deps
    this.#asking?.abort(new Error('the copy has a change of this node'))
    this.#isFollowing = false
    if (!this.#isAhead) file.setAhead(this.id, true)
    this.#isAhead = true
    const at = { revision: event.revision, readAtMs: this.readAtMs }
    const applied = file.apply(this.id, [event], at)
    this.#revision = event.revision
    this.#store.push(applied, event.revision)
  }

  /** Ends the watches: their readers begin again, and are answered from another copy. */
  endWatches(): void {
    if ((this.#copy?.watchCount ?? 0) > 0) this.#store.reset()
  }

  /** Call this when the control plane has this node's changes. */
  settled(): void {
    this.#wake.raise()
  }

  /** Resolves once there is something to answer from. Rejects if there will be nothing. */
  whenOpened(): Promise<ObjectCopy> {
    return this.#opened.promise
  }

  /** A reader's token, for the next question to the control plane. */
  offer(token: string): void {
    this.usedAtMs = this.#deps.clock.now()
    if (this.#token === token) return
    this.#token = token
    if (!this.#isFollowing) this.#wake.raise()
  }

  /** The same for a reader who is answered while the control plane is away: after a restart of the node nobody else may ask. */
  offerForReturn(token: string): void {
    if (this.#token === undefined) this.offer(token)
  }

  /** Follows until the signal aborts. Throws CopyTooLargeError and DamagedCopyError. */
  async run(signal: AbortSignal, onCopy: (copy: ObjectCopy) => void): Promise<void> {
    using transport = this.#deps.open(this.#credentials())
    using asNode = this.#deps.open()
    const backoff = createBackoff(retry, this.#deps.random)
    using _changes = this.#deps.link.onChange((isUp) => {
      if (isUp) backoff.reset()
      this.#wake.raise()
    })
    try {
      if (this.#revision > 0) onCopy(await this.#open())
      for (;;) {
        await this.#untilMayAsk(signal)
        const client = this.#client(this.#token === undefined ? asNode : transport)
        const asking = new AbortController()
        this.#asking = asking
        const scope = AbortSignal.any([signal, asking.signal])
        try {
          const mustList = this.#revision === 0 || this.#isAhead || this.#isExpired
          if (mustList) onCopy(await this.#list(client, scope))
          await this.#watch(client, scope)
          backoff.reset()
        } catch (error) {
          signal.throwIfAborted()
          if (asking.signal.aborted) continue
          if (endsCopy(error)) throw error
          await this.#onFailure(error, () => backoff.nextMs(), signal)
        }
      }
    } catch (error) {
      this.#opened.reject(error)
      throw error
    } finally {
      this.#isFollowing = false
    }
  }

  #credentials(): CredentialSource {
    return () => Promise.resolve(this.#token === undefined ? {} : { bearerToken: this.#token })
  }

  #client(transport: HttpsTransport): ResourceClient<AnyObject> {
    const { resource, namespace } = this.scope
    const cluster = createCluster(transport, this.#deps)
    const kind = this.#deps.readPath.kindOf(resource)
    const isNamespaced = kind?.isNamespaced ?? namespace !== ''
    return cluster.resource(anyObjects({ ...resource, isNamespaced }))
  }

  async #untilMayAsk(signal: AbortSignal): Promise<void> {
    const { link, journal } = this.#deps
    const isHeld = (): boolean => this.#isAhead && journal.holds(this.scope.resource)
    while (!link.isUp || isHeld() || (this.#token === undefined && !this.#mayAskAsNode)) {
      await this.#wake.wait(signal)
    }
  }

  async #onFailure(error: unknown, delayMs: () => number, signal: AbortSignal): Promise<void> {
    const { log, link, clock } = this.#deps
    if (isStatusError(error, 'Expired') || isStatusError(error, 'Gone')) {
      this.#isExpired = true
      return
    }
    this.#stopFollowing()
    if (isStatusError(error, 'Unauthorized') || isStatusError(error, 'Forbidden')) {
      const scope = scopeText(this.scope)
      if (!this.#copy && !this.isKept) {
        throw new CopyRefusedError(`Cannot copy ${scope}`, { cause: error })
      }
      if (this.#token === undefined) {
        this.#mayAskAsNode = false
        log.error(
          'Named copy is refused to this node; give its user the rights to list and watch',
          {
            scope,
            error: asError(error),
          },
        )
      } else log.debug('Copy waits for another reader', { scope, error: asError(error) })
      this.#token = undefined
      // Watches of the copy would be silent; their readers come again, with newer tokens.
      this.#store.reset()
      using _again = clock.setTimer(refusedMs, () => {
        this.#mayAskAsNode = this.isKept
        this.#wake.raise()
      })
      await this.#wake.wait(signal)
      return
    }
    log.debug('Copy failed', { scope: scopeText(this.scope), error: asError(error) })
    link.suspect()
    using _again = clock.setTimer(delayMs(), () => this.#wake.raise())
    await this.#wake.wait(signal)
  }

  #stopFollowing(): void {
    if (this.#isFollowing) this.#note([], this.#revision)
    this.#isFollowing = false
  }

  async #open(): Promise<ObjectCopy> {
    this.#copy ??= await this.#deps.readPath.open(this.scope.resource, this.#store)
    this.#opened.resolve(this.#copy)
    return this.#copy
  }

  /** Reads everything, and turns the difference into events. */
  async #list(client: ResourceClient<AnyObject>, signal: AbortSignal): Promise<ObjectCopy> {
    const { file } = this.#deps
    const objects: ListedObject[] = []
    let revision = 0
    let bytes = 0
    for await (const page of client.pages(this.#asked(), signal)) {
      revision ||= revisionOf(page.metadata.resourceVersion)
      for (const object of page.items) {
        const listed = this.#listed(object)
        bytes += listed.value.length
        if (bytes > copyBytesMax) throw this.#tooLarge()
        objects.push(listed)
      }
    }
    signal.throwIfAborted()
    const copy = { revision: this.#revision, known: file.known(this.id) }
    const plan = planRelist(copy, { revision, objects })
    if (plan) this.#note(plan, revision)
    else this.#replace({ revision, objects, known: copy.known })
    if (this.#isAhead) file.setAhead(this.id, false)
    this.#isAhead = false
    this.#isExpired = false
    this.bytes = bytes
    return this.#open()
  }

  /**
   * Takes over a server whose revisions went back, or whose changes are older than this node's own. No watch can go
   * on.
   */
  #replace(list: {
    revision: number
    objects: readonly ListedObject[]
    known: ReadonlyMap<string, { uid: string }>
  }): void {
    const { file, clock, log } = this.#deps
    const why = this.#isAhead ? 'it has older changes' : 'it was restored'
    log.info('Watches of a copy end', { scope: scopeText(this.scope), why })
    const listed = new Set(list.objects.map(({ key }) => key))
    const gone = [...list.known].filter(([key]) => !listed.has(key))
    const events = [
      ...gone.map(([key, { uid }]) => ({ type: 'delete' as const, key, uid, ...nothingAt(list) })),
      ...list.objects.map((object) => ({ type: 'put' as const, ...object })),
    ]
    this.readAtMs = clock.now()
    this.#revision = list.revision
    file.apply(this.id, events, { revision: list.revision, readAtMs: this.readAtMs })
    this.#store.reset()
  }

  async #watch(client: ResourceClient<AnyObject>, signal: AbortSignal): Promise<void> {
    const { random } = this.#deps
    const timeoutSeconds = Math.floor(300 * (1 + random.next()))
    const request = {
      ...this.#asked(),
      resourceVersion: String(this.#revision),
      timeoutSeconds,
    }
    const events = client.watch(request, signal)
    this.#isFollowing = true
    for await (const event of events) {
      this.#deps.link.answered()
      if (event.type === 'BOOKMARK') {
        this.#note([], Math.max(this.#revision, revisionOf(event.resourceVersion)))
        continue
      }
      const { key, value, uid, revision } = this.#listed(event.object)
      const type = event.type === 'DELETED' ? 'delete' : 'put'
      this.#note([{ type, key, value, uid, revision }], Math.max(this.#revision, revision))
      if (type === 'put') this.#count(value.length)
    }
  }

  #asked() {
    const { namespace, labelSelector, fieldSelector } = this.scope
    return {
      ...(namespace === '' ? {} : { namespace }),
      ...(labelSelector === '' ? {} : { labelSelector }),
      ...(fieldSelector === '' ? {} : { fieldSelector }),
    }
  }

  /** Writes to disk first: a reader never sees what a killed process would forget. */
  #note(events: readonly CopyEvent[], revision: number): void {
    const { file, clock } = this.#deps
    this.readAtMs = clock.now()
    const applied = file.apply(this.id, events, { revision, readAtMs: this.readAtMs })
    this.#revision = revision
    this.#store.push(applied, revision)
  }

  #count(bytes: number): void {
    this.bytes += bytes
    if (this.bytes <= copyBytesMax) return
    // The sum counts replaced values, too.
    this.bytes = this.#deps.file.bytesOf(this.id)
    if (this.bytes > copyBytesMax) throw this.#tooLarge()
  }

  #tooLarge(): CopyTooLargeError {
    const text = `it has more than ${copyBytesMax} bytes`
    return new CopyTooLargeError(`Cannot copy ${scopeText(this.scope)}: ${text}`)
  }

  /** Objects of a list lack their type on some servers. */
  #listed(object: AnyObject): ListedObject {
    const { group, version } = this.scope.resource
    const kind = this.#deps.readPath.kindOf(this.scope.resource)?.kind ?? object.kind
    const apiVersion = group === '' ? version : `${group}/${version}`
    const { namespace = '', name = '', uid = '', resourceVersion } = object.metadata
    return {
      key: namespace === '' ? name : `${namespace}/${name}`,
      uid,
      revision: revisionOf(resourceVersion),
      value: utf8.encode(encodeCanonical({ ...object, apiVersion, kind })),
    }
  }
}

const utf8 = new TextEncoder()

function endsCopy(error: unknown): boolean {
  return (
    error instanceof CopyTooLargeError ||
    error instanceof CopyRefusedError ||
    error instanceof DamagedCopyError
  )
}

function nothingAt({ revision }: { revision: number }) {
  return { revision, value: new Uint8Array(0) }
}

/** Copies compare revisions as numbers, which those of Kubernetes' servers are. */
function revisionOf(text: string | undefined): number {
  const revision = Number(text)
  if (Number.isSafeInteger(revision) && revision > 0) return revision
  throw new RangeError(`Cannot copy: the resourceVersion ${JSON.stringify(text)} is not a number`)
}
