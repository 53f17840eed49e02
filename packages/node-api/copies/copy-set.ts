import type { GroupResource, GroupVersionResource } from '@skerry/api'
import type { ObjectCopy } from '@skerry/apiserver'
import { RecentMap, asError, linkedSignal, runAll, withTimeout, unlessAborted } from '@skerry/base'
import { nodeApiBounds } from '../limits-table.ts'
import {
  CopiedResource,
  CopyRefusedError,
  CopyTooLargeError,
  type CopiedResourceDeps,
} from './copied-resource.ts'
import { DamagedCopyError, type StoredScope } from './copy-file.ts'
import type { KeptScope } from './kept-scope.ts'
import { coveringScopes, parseScopeKey, scopeKey, scopeText, type Scope } from './scope.ts'

const { refusedMs } = nodeApiBounds.copiedResource
const { copiesMax, bytesMax, tooLargeMs, laterMax, syncWaitMs } = nodeApiBounds.copySet

interface Running {
  readonly resource: CopiedResource
  readonly stop: (reason: Error) => void
  readonly ended: Promise<void>
}

/** All copies of this node. There is one for each scope that readers share. */
export class CopySet {
  readonly #deps: CopiedResourceDeps
  readonly #running = new Map<string, Running>()
  /** When a scope may be tried again, in monotonic milliseconds. */
  readonly #later = new RecentMap<string, number>(laterMax)
  readonly #kept: ReadonlyMap<string, Scope>
  readonly #signal: AbortSignal

  /** The signal ends all copies. Reads what is on disk; nothing is asked before the link is up. */
  constructor(kept: readonly KeptScope[], deps: CopiedResourceDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
    this.#kept = new Map(kept.flatMap((each) => this.#keptScope(each)))
    for (const stored of deps.file.scopes()) this.#resume(stored)
    for (const scope of this.#kept.values()) this.#ensure(scope)
  }

  /** Returns a copy that contains everything of this scope. */
  find(scope: Scope): CopiedResource | undefined {
    const isHeld = this.#deps.journal.holds(scope.resource) || this.isAhead(scope.resource)
    for (const each of coveringScopes(scope)) {
      // Changes of this node are in copies of everything.
      if (isHeld && isSelected(each)) continue
      const found = this.#running.get(scopeKey(each))?.resource
      if (found?.copy) return found
    }
    return undefined
  }

  /** Returns the copies of all objects of the namespace in this version. */
  whole(resource: GroupVersionResource, namespace: string): readonly CopiedResource[] {
    return this.#all().filter(
      ({ scope, revision }) =>
        revision > 0 &&
        !isSelected(scope) &&
        isSameResource(scope.resource, resource) &&
        scope.resource.version === resource.version &&
        (scope.namespace === '' || scope.namespace === namespace),
    )
  }

  /** Returns the copies that may show an object of the namespace in another way. */
  partial(resource: GroupVersionResource, namespace: string): readonly CopiedResource[] {
    const whole = new Set(this.whole(resource, namespace))
    return this.#all().filter(
      (each) =>
        !whole.has(each) &&
        isSameResource(each.scope.resource, resource) &&
        (each.scope.namespace === '' || each.scope.namespace === namespace),
    )
  }

  /** Returns true while readers see changes of this node that the control plane's history does not have. */
  isAhead(resource: GroupResource): boolean {
    return this.#all().some((each) => each.isAhead && isSameResource(each.scope.resource, resource))
  }

  /** Offers a reader's token to the copies that wait for one to follow again. */
  offer(resource: GroupResource, token: string): void {
    for (const each of this.#all()) {
      if (each.isAhead && isSameResource(each.scope.resource, resource)) each.offer(token)
    }
  }

  /** Call this when the control plane has this node's changes. */
  settled(): void {
    for (const resource of this.#all()) resource.settled()
  }

  /**
   * Returns a copy that follows the control plane, making one with this reader's token if there is none. Undefined if
   * there can be none, or none in time.
   */
  async follow(
    scope: Scope,
    token: string,
    signal: AbortSignal,
  ): Promise<FollowedCopy | undefined> {
    const known = this.find(scope)
    if (known?.isFollowing && known.copy) {
      known.offer(token)
      return { resource: known, copy: known.copy, isNew: false }
    }
    const resource = this.#ensure(scope)
    if (!resource) return undefined
    resource.offer(token)
    const isNew = resource.copy === undefined
    const { clock } = this.#deps
    try {
      const message = 'the copy is not there in time'
      const copy = await withTimeout({ ms: syncWaitMs, message, clock }, signal, (scoped) =>
        unlessAborted(resource.whenOpened(), scoped),
      )
      return resource.isFollowing || isNew ? { resource, copy, isNew } : undefined
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.debug('Copy is not used', { scope: scopeText(scope), error: asError(error) })
      return undefined
    }
  }

  /** Ends all copies, which stay on disk. */
  async close(): Promise<void> {
    const all = [...this.#running.values()]
    for (const { stop } of all) stop(new Error('the copies are closed'))
    await Promise.all(all.map(({ ended }) => ended))
  }

  #all(): CopiedResource[] {
    return [...this.#running.values()].map(({ resource }) => resource)
  }

  #keptScope({ group, resource, namespace }: KeptScope): [string, Scope][] {
    const kind = this.#deps.readPath.storedKindOf({ group, resource })
    if (!kind) {
      this.#deps.log.error('Named copy is not kept: the kind is not built in', { group, resource })
      return []
    }
    const { version } = kind
    const scope: Scope = {
      resource: { group, version, resource },
      namespace,
      labelSelector: '',
      fieldSelector: '',
    }
    return [[scopeKey(scope), scope]]
  }

  #resume(stored: StoredScope): void {
    const scope = parseScopeKey(stored.key)
    const isUsable = stored.revision > 0 && this.#deps.readPath.kindOf(scope.resource) !== undefined
    if (isUsable) this.#start(scope, stored)
    else this.#deps.file.dropScope(stored.id)
  }

  #ensure(scope: Scope): CopiedResource | undefined {
    const key = scopeKey(scope)
    const known = this.#running.get(key)
    if (known) return known.resource
    const { file, clock, readPath } = this.#deps
    const kind = readPath.kindOf(scope.resource)
    if (!kind?.verbs.includes('watch')) return undefined
    if ((this.#later.get(key) ?? -Infinity) > clock.monotonicMs()) return undefined
    if (!this.#makeRoom(copiesMax - 1)) return undefined
    const id = file.addScope(key, clock.now())
    return this.#start(scope, { id, key, revision: 0, readAtMs: 0, bytes: 0, isAhead: false })
  }

  #start(scope: Scope, stored: StoredScope): CopiedResource {
    const { key } = stored
    const isKept = this.#kept.has(key)
    const resource = new CopiedResource({ scope, stored, isKept }, this.#deps)
    const linked = linkedSignal(this.#signal)
    const ended = this.#follow(resource, key, linked.signal).finally(() => {
      linked[Symbol.dispose]()
      if (this.#running.get(key)?.resource === resource) this.#running.delete(key)
    })
    this.#running.set(key, { resource, stop: (reason) => linked.abort(reason), ended })
    return resource
  }

  /** Never rejects. */
  async #follow(resource: CopiedResource, key: string, signal: AbortSignal): Promise<void> {
    const { log, file, clock } = this.#deps
    const copies = Promise.withResolvers<ObjectCopy>()
    try {
      await runAll(signal, [
        (scope) => resource.run(scope, copies.resolve),
        async (scope) => (await unlessAborted(copies.promise, scope)).run(scope),
        async (scope) => {
          await unlessAborted(copies.promise, scope)
          if (!this.#makeRoom(copiesMax)) throw new CopyTooLargeError('all copies are too large')
        },
      ])
    } catch (error) {
      if (signal.aborted) return
      const scope = scopeText(resource.scope)
      if (error instanceof CopyTooLargeError) {
        log.info('Resource is not copied', { scope, error })
        this.#later.set(key, clock.monotonicMs() + tooLargeMs)
      } else if (error instanceof CopyRefusedError) {
        log.debug('Resource is not copied', { scope, error })
        this.#later.set(key, clock.monotonicMs() + refusedMs)
      } else {
        const isDamaged = error instanceof DamagedCopyError
        const text = isDamaged ? 'Damaged copy is fetched again' : 'Copy failed'
        log.error(text, { scope, error: asError(error) })
      }
      file.dropScope(resource.id)
    }
  }

  /** Drops copies until there are at most so many, of so many bytes. Returns false if the others must stay. */
  #makeRoom(countMax: number): boolean {
    const all = this.#all()
    let count = all.length
    let bytes = all.reduce((sum, each) => sum + each.bytes, 0)
    const idle = all
      .filter(({ isKept, isAhead, copy }) => !isKept && !isAhead && (copy?.watchCount ?? 0) === 0)
      .toSorted((one, other) => one.usedAtMs - other.usedAtMs)
    for (const each of idle) {
      if (count <= countMax && bytes <= bytesMax) return true
      this.#drop(each)
      count -= 1
      bytes -= each.bytes
    }
    return count <= countMax && bytes <= bytesMax
  }

  #drop(resource: CopiedResource): void {
    const key = scopeKey(resource.scope)
    this.#deps.log.info('Copy is dropped to make room', { scope: scopeText(resource.scope) })
    this.#running.get(key)?.stop(new Error('the copy is dropped'))
    this.#running.delete(key)
    this.#deps.file.dropScope(resource.id)
  }
}

function isSelected({ labelSelector, fieldSelector }: Scope): boolean {
  return labelSelector !== '' || fieldSelector !== ''
}

function isSameResource(one: GroupResource, other: GroupResource): boolean {
  return one.group === other.group && one.resource === other.resource
}

/** A copy that follows the control plane. */
export interface FollowedCopy {
  readonly resource: CopiedResource
  readonly copy: ObjectCopy
  /** True if the request that asked for it made it, so that it is as new as the request wants. */
  readonly isNew: boolean
}
