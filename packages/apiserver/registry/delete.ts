import type { AnyObject, Kind, ObjectMeta } from '@skerry/api'
import { CachedObject } from '../cache/cached-object.ts'
import { storageKey } from '../cache/watch-cache.ts'
import { admitValid, admit } from './admission-chain.ts'
import type { DeleteOptions } from './delete-options.ts'
import { missing } from './read.ts'
import { conflict, modifiedConflict } from './registry-errors.ts'
import { deletionRuleOf, isHeld } from './deletion-table.ts'
import { removeObject } from './remove.ts'
import { objectKey, timeText, type RegistryDeps, type RequestScope } from './request-scope.ts'

export interface DeleteResult {
  /** The last state, or the state in which the object waits for its end. */
  readonly cached: CachedObject
  /** False if finalizers or a grace period hold the object. */
  readonly isGone: boolean
  /** The revision of the removal. A collection's answer does not show it. */
  readonly revision?: number
}

/** Removes the object, or marks it for removal if finalizers or a grace period hold it. */
export async function deleteObject(
  options: DeleteOptions,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<DeleteResult> {
  const { reader, name } = scope
  await deps.cache.fresh(scope.signal)
  let isAdmitted = false
  for (let attempt = 1; ; attempt += 1) {
    const current = deps.cache.resource(reader.storage).get(objectKey(scope))
    if (!current) throw missing(scope, deps)
    await reader.prepare?.([current], scope.signal)
    const old = reader.parse(current)
    requirePreconditions(options, old, scope)
    if (!isAdmitted) await admitDelete(options, old, scope, deps)
    isAdmitted = true
    const result = await tryDelete({ current, old, options }, scope, deps)
    if (result) return result
    if (options.resourceVersion !== undefined || attempt >= deps.limits.updateAttemptsMax) {
      throw modifiedConflict(reader.kind, name)
    }
    await deps.cache.fresh(scope.signal)
  }
}

async function admitDelete(
  options: DeleteOptions,
  old: AnyObject,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<void> {
  const input = {
    operation: 'DELETE' as const,
    object: undefined,
    oldObject: old,
    options: options.object,
  }
  await admit(input, scope, deps)
  await admitValid(input, scope, deps)
}

interface Deletion {
  current: CachedObject
  old: AnyObject
  options: DeleteOptions
}

async function tryDelete(
  { current, old, options }: Deletion,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<DeleteResult | undefined> {
  const { reader } = scope
  const next = planDeletion(old, options, { kind: reader.kind, nowMs: deps.clock.now() })
  if (next === 'remove') {
    const revision = scope.isDryRun ? current.revision : await removeObject(current, scope, deps)
    if (revision === undefined) return undefined
    return { cached: lastState({ current, old, options }, scope, deps), isGone: true, revision }
  }
  if (next === 'wait') return { cached: current, isGone: false }
  const value = await reader.encodeStored(next, scope.signal)
  const { createRevision, key } = current
  let revision = current.revision
  if (!scope.isDryRun) {
    const write = {
      key: storageKey(reader.storage, key),
      value,
      expectRevision: revision,
      isDeleteStep: true,
    }
    const result = await deps.store.write(write)
    if (!result.isApplied) return undefined
    revision = result.revision
    await deps.cache.waitFor(revision, scope.signal)
  }
  return { cached: new CachedObject(key, { value, revision, createRevision }), isGone: false }
}

/** Kinds with a grace period show it as zero. */
function lastState(
  { current, old }: Deletion,
  { reader }: RequestScope,
  deps: RegistryDeps,
): CachedObject {
  if (!reader.kind.strategy.gracefulDeletion) return current
  const finalizers = old.metadata.finalizers ?? []
  const isShortened = old.metadata.deletionTimestamp !== undefined
  const mark = { finalizers, graceSeconds: 0, nowMs: deps.clock.now(), isShortened }
  const { key, revision, createRevision } = current
  return new CachedObject(key, {
    value: reader.encode(marked(old, mark)),
    revision,
    createRevision,
  })
}

/**
 * Decides whether the object is gone now, stays as it is because it already waits, or gets this
 * next state.
 */
export function planDeletion(
  old: AnyObject,
  options: DeleteOptions,
  context: { kind: Pick<Kind, 'group' | 'kind' | 'strategy'>; nowMs: number },
): AnyObject | 'remove' | 'wait' {
  const { strategy } = context.kind
  const finalizers = finalizersFor(old.metadata, options, strategy.defaultGarbageCollection)
  const graceSeconds = strategy.gracefulDeletion?.(old, options.gracePeriodSeconds) ?? 0
  const isKept = finalizers.length > 0 || isHeld(old, context.kind)
  const before = old.metadata.deletionTimestamp
  if (before !== undefined) {
    // A kind without a grace period ignores one that a client wrote there.
    const { deletionGracePeriodSeconds: written = 0 } = old.metadata
    const pendingSeconds = strategy.gracefulDeletion ? written : 0
    const isShorter = options.gracePeriodSeconds !== undefined && graceSeconds < pendingSeconds
    if (!isShorter && pendingSeconds > 0) return withFinalizers(old, finalizers)
    if (graceSeconds === 0 || pendingSeconds === 0) {
      if (!isKept) return 'remove'
      if (!isShorter) return withFinalizers(old, finalizers)
    }
    return marked(old, { finalizers, graceSeconds, nowMs: context.nowMs, isShortened: true })
  }
  if (graceSeconds === 0 && !isKept) return 'remove'
  const next = marked(old, { finalizers, graceSeconds, nowMs: context.nowMs, isShortened: false })
  deletionRuleOf(context.kind)?.onMarked(next)
  return next
}

function withFinalizers(old: AnyObject, finalizers: readonly string[]): AnyObject | 'wait' {
  const before = old.metadata.finalizers ?? []
  const isSame =
    before.length === finalizers.length && finalizers.every((name) => before.includes(name))
  if (isSame) return 'wait'
  return { ...old, metadata: { ...old.metadata, finalizers: [...finalizers] } }
}

interface Mark {
  finalizers: readonly string[]
  graceSeconds: number
  nowMs: number
  isShortened: boolean
}

function marked(old: AnyObject, { finalizers, graceSeconds, nowMs, isShortened }: Mark): AnyObject {
  const metadata: ObjectMeta = {
    ...old.metadata,
    deletionTimestamp: timeText(nowMs + graceSeconds * 1000),
    deletionGracePeriodSeconds: graceSeconds,
  }
  if (finalizers.length > 0) metadata.finalizers = [...finalizers]
  else delete metadata.finalizers
  if (!isShortened && (old.metadata.generation ?? 0) > 0) {
    metadata.generation = (old.metadata.generation ?? 0) + 1
  }
  return { ...old, metadata }
}

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

function finalizersFor(
  metadata: ObjectMeta,
  options: DeleteOptions,
  byDefault: Kind['strategy']['defaultGarbageCollection'],
): string[] {
  const before = metadata.finalizers ?? []
  const wanted = wantedFinalizer(before, options, byDefault)
  const others = before.filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer)
  return wanted === '' ? others : [...others, wanted]
}

function wantedFinalizer(
  before: readonly string[],
  { propagationPolicy }: DeleteOptions,
  byDefault: Kind['strategy']['defaultGarbageCollection'],
): string {
  if (byDefault === 'none') return ''
  if (propagationPolicy === 'Orphan') return orphanFinalizer
  if (propagationPolicy === 'Foreground') return foregroundFinalizer
  if (propagationPolicy === 'Background') return ''
  if (before.includes(orphanFinalizer)) return orphanFinalizer
  if (before.includes(foregroundFinalizer)) return foregroundFinalizer
  return byDefault === 'orphan' ? orphanFinalizer : ''
}

/** Kinds whose deletion upstream implements separately, with the storage's error messages. */
const ownDeletions: ReadonlySet<string> = new Set([
  'apiextensions.k8s.io/customresourcedefinitions',
  'core/namespaces',
])

function requireStoredPreconditions(
  options: DeleteOptions,
  old: AnyObject,
  scope: RequestScope,
): void {
  for (const [key, label] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const wanted = options[key]
    if (wanted === undefined || wanted === old.metadata[key]) continue
    const why = `Precondition failed: ${label} in precondition: ${wanted}, ${label} in object meta: ${old.metadata[key]}`
    throw conflict(scope.reader.kind, scope.name, why)
  }
}

function requirePreconditions(options: DeleteOptions, old: AnyObject, scope: RequestScope): void {
  const { uid, resourceVersion } = old.metadata
  if (ownDeletions.has(scope.reader.storage)) {
    requireStoredPreconditions(options, old, scope)
    return
  }
  // Upstream names the kind here where it usually names the resource.
  const { kind: served } = scope.reader
  const group = served.storageGroup ?? served.group
  const kind = { ...served, group, resource: served.kind }
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    throw conflict(kind, scope.name, why)
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`
    throw conflict(kind, scope.name, why)
  }
}
