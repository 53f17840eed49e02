import { equalJson, type AnyObject, type Kind, type StatusCause } from '@skerry/api'
import { hasSentEmpty, keepTimesOfNoop } from '@skerry/bodies'
import { ownTurn } from '@skerry/base'
import { CachedObject } from '../cache/cached-object.ts'
import { storageKey } from '../cache/watch-cache.ts'
import { admit, admitValid, allCauses } from './admission-chain.ts'
import { createAdmitted, hasGeneration } from './create.ts'
import { setDefaults, writeAsStored } from './decode.ts'
import { isHeld } from './deletion-table.ts'
import { checkUpdate } from './metadata-checks-table.ts'
import { requireStorable, requireStored } from './object-size.ts'
import { keepAllButPart } from './part-table.ts'
import { removeObject } from './remove.ts'
import { companionsOf, reservationLost, tooContended, type Reservation } from './interceptor.ts'
import { missing } from './read.ts'
import { isRelaxedChange } from './relaxed-changes-table.ts'
import { badRequest, invalid, modifiedConflict, requireValid, unnamed } from './registry-errors.ts'
import {
  objectKey,
  strategyContext,
  type RegistryDeps,
  type RequestScope,
} from './request-scope.ts'
import { uidConflict, uidOfNothing, unreadableVersion, versionOf } from './storage-error.ts'

export interface Change {
  /**
   * Makes the next state from a private copy of the current one, or from undefined if there is
   * none. Runs again if the object changed meanwhile.
   */
  readonly next: (current: AnyObject | undefined) => AnyObject | Promise<AnyObject>
  /** True if a missing object is created (apply, and PUT of kinds that allow it). */
  readonly mayCreate: boolean
  /** True for patches: `next` keeps its resourceVersion unless the client changes it. */
  readonly isDerived: boolean
  readonly attemptsMax: number
  /** For subresources that show a part of the object as a kind of its own: gives admission that kind. */
  readonly part?: {
    readonly show: (object: AnyObject) => AnyObject
    readonly write: (next: AnyObject, part: AnyObject) => void
  }
}

export interface ChangeResult {
  readonly cached: CachedObject
  readonly isCreated: boolean
}

/** Reads, changes, admits, validates and writes. Starts over if another writer was faster. */
export async function changeObject(
  change: Change,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<ChangeResult> {
  const { reader, name } = scope
  if (reader.kind.strategy.load) await reader.kind.strategy.load()
  await deps.cache.fresh(scope.signal)
  for (let attempt = 1; ; attempt += 1) {
    const resource = deps.cache.resource(reader.storage)
    // The stored object is read, compared and written again.
    await scope.pace?.untilItsTurn(2 * (resource.get(objectKey(scope))?.bytes.length ?? 0))
    const current = resource.get(objectKey(scope))
    if (!current) {
      const error = missing(scope, deps)
      if (!change.mayCreate || error.reason !== 'NotFound') throw error
      return { cached: await createMissing(change, scope, deps), isCreated: true }
    }
    const result = await tryChange(change, current, scope, deps)
    if (result === reservationLost) {
      if (attempt >= deps.limits.updateAttemptsMax) throw tooContended(reader.kind)
      continue
    }
    if (result) return { cached: result, isCreated: false }
    if (attempt >= change.attemptsMax) throw modifiedConflict(reader.kind, name)
    // The faster writer may be ahead of the cache.
    await deps.cache.fresh(scope.signal)
  }
}

async function createMissing(
  change: Change,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<CachedObject> {
  const object = await change.next(undefined)
  requireName(object, scope)
  const { reader, name } = scope
  if (object.metadata.uid && change.isDerived) throw uidOfNothing(object.metadata.uid, scope)
  if (object.metadata.uid) {
    throw uidConflict(reader.kind, scope, { given: object.metadata.uid, stored: '' })
  }
  const { resourceVersion = '' } = object.metadata
  if (versionOf(resourceVersion) === undefined) throw unreadableVersion(resourceVersion)
  delete object.metadata.resourceVersion
  const creating = {
    ...scope,
    options: scope.options && { ...scope.options, kind: 'CreateOptions' },
  }
  await admit({ operation: 'CREATE', object, oldObject: undefined, name }, creating, deps)
  return createAdmitted(object, creating, deps)
}

/**
 * Resolves to undefined if another writer was faster and the request does not insist on a version, and to
 * reservationLost if another server has taken what the change needs.
 */
async function tryChange(
  change: Change,
  current: CachedObject,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<CachedObject | typeof reservationLost | undefined> {
  const { reader, name } = scope
  await reader.prepare?.([current], scope.signal)
  const old = reader.parse(current)
  await scope.pace?.pause()
  const next = await change.next(reader.parse(current))
  if (scope.pace?.isLarge) requireStorable(next, deps.limits)
  await scope.pace?.pause()
  requireName(next, scope)
  const insists = requireVersion(next, old, change, scope)
  const isConditional = insists && !change.isDerived
  const { part } = change
  const shown = part?.show(next) ?? next
  const shownOld = part?.show(old) ?? old
  await admit({ operation: 'UPDATE', object: shown, oldObject: shownOld }, scope, deps)
  part?.write(next, shown)
  prepareForUpdate(next, old, scope, deps)
  await scope.pace?.pause()
  keepTimesOfNoop(next, old)
  await scope.pace?.pause()
  const isMain = scope.subresource === ''
  const reservation = isMain
    ? deps.interceptors[reader.storage]?.onUpdate(next, old, scope)
    : undefined
  try {
    const valid = part?.show(next) ?? next
    const input = { operation: 'UPDATE', object: valid, oldObject: shownOld } as const
    // Rules of a definition may use their whole budget, whatever the size of the object.
    if (reader.kind.isCustom) await ownTurn(deps.clock)
    const causes = causesOfUpdate(next, old, scope)
    await scope.pace?.pause()
    requireValid(reader.kind, name, await allCauses(causes, input, scope, deps))
    if (isMain) warnOfUpdate(next, old, scope)
    await admitValid(input, scope, deps)
    await scope.pace?.pause()
    const written = await writeNext(next, { old, current, reservation }, scope, deps)
    if (!written && isConditional) throw modifiedConflict(reader.kind, name)
    return written
  } catch (error) {
    reservation?.rollback()
    throw error
  }
}

interface Before {
  old: AnyObject
  current: CachedObject
  reservation: Reservation | undefined
}

async function writeNext(
  next: AnyObject,
  { old, current, reservation }: Before,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<CachedObject | typeof reservationLost | undefined> {
  const { reader } = scope
  const value = await reader.encodeStored(next, scope.signal)
  requireStored(value, deps.limits)
  await scope.pace?.pause()
  const { createRevision } = current
  const unchanged = new CachedObject(current.key, {
    value,
    revision: current.revision,
    createRevision,
  })
  const isKept = Buffer.compare(unchanged.bytes, current.bytes) === 0
  const key = storageKey(reader.storage, current.key)
  // The same value is written once more if its encryption key is outdated.
  if (isKept && (scope.isDryRun || !(await deps.isStale?.(key)))) {
    reservation?.rollback()
    return current
  }
  if (scope.isDryRun) {
    reservation?.rollback()
    return unchanged
  }
  if (isReleased(next, old, reader.kind)) {
    const isRemoved = (await removeObject(current, scope, deps)) !== undefined
    if (isRemoved) reservation?.commit()
    else reservation?.rollback()
    return isRemoved ? unchanged : undefined
  }
  const leaseId = await deps.leases.leaseFor(reader.storage)
  const result = await deps.store.write({
    key,
    value,
    expectRevision: current.revision,
    ...(leaseId === undefined ? {} : { leaseId }),
    // Finalizers and the node remove a deleted object in several updates.
    isDeleteStep: next.metadata.deletionTimestamp !== undefined,
    isRelaxed: isRelaxedChange(reader.storage, next, old),
    ...companionsOf(reservation),
  })
  if (!result.isApplied) {
    reservation?.rollback()
    if (result.refusedBy === undefined) return undefined
    await deps.cache.waitFor(result.revision, scope.signal)
    return reservationLost
  }
  await deps.cache.waitFor(result.revision, scope.signal)
  reservation?.commit()
  return new CachedObject(current.key, { value, revision: result.revision, createRevision })
}

/**
 * A deleted object that waited for its last finalizer is removed by the update that removes the
 * finalizer.
 */
function isReleased(next: AnyObject, old: AnyObject, kind: Kind): boolean {
  if (old.metadata.deletionTimestamp === undefined) return false
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false
  if ((next.metadata.finalizers ?? []).length > 0) return false
  return !isHeld(next, kind)
}

/** Checks the body of a PUT, whether or not there is an object to replace. */
export function requireNameOfPath(object: AnyObject, scope: RequestScope): void {
  if (!object.metadata.name) throw unnamed(scope.name)
  requireName(object, scope)
}

function requireName(object: AnyObject, { name, namespace, reader }: RequestScope): void {
  const { metadata } = object
  if (!metadata.name) metadata.name = name
  else if (metadata.name !== name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    )
  }
  if (reader.kind.isNamespaced) requireNamespace(object, namespace)
  else delete metadata.namespace
}

/** Sets the namespace if it is missing. */
export function requireNamespace(object: AnyObject, namespace: string): void {
  const { metadata } = object
  if (!metadata.namespace) metadata.namespace = namespace
  else if (metadata.namespace !== namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
}

/** Returns true if the request insists on the version it has seen. */
function requireVersion(
  next: AnyObject,
  old: AnyObject,
  { isDerived }: Change,
  scope: RequestScope,
): boolean {
  const { kind } = scope.reader
  const { resourceVersion, uid } = next.metadata
  // The result of a patch is validated instead.
  if (!isDerived && uid && uid !== old.metadata.uid) {
    throw uidConflict(kind, scope, { given: uid, stored: old.metadata.uid ?? '' })
  }
  const version = versionOf(resourceVersion ?? '')
  if (version === undefined) throw unreadableVersion(resourceVersion ?? '')
  if (version > 0n) {
    if (version !== versionOf(old.metadata.resourceVersion ?? '')) {
      throw modifiedConflict(kind, scope.name)
    }
    return true
  }
  if (kind.strategy.allowUnconditionalUpdate === false && scope.subresource !== 'scale') {
    const message = 'Invalid value: 0: must be specified for an update'
    const cause = { reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }
    // Upstream names the resource here, not the kind.
    throw invalid({ ...kind, kind: kind.resource }, scope.name, [cause])
  }
  next.metadata.resourceVersion = old.metadata.resourceVersion ?? ''
  return false
}

function prepareForUpdate(
  next: AnyObject,
  old: AnyObject,
  scope: RequestScope,
  deps: RegistryDeps,
): void {
  const { kind } = scope.reader
  writeAsStored(next, kind)
  keepSystemFields(next, old)
  const { strategy } = kind
  const context = strategyContext(scope, deps)
  strategy.setTimes?.(next, context.nowMs)
  if (scope.subresource !== '') {
    const { subresource } = scope
    keepAllButPart(next, old, { kind, subresource })
    strategy.parts?.[subresource]?.prepare?.(next, old, context)
    if (subresource === 'status') strategy.prepareForStatusUpdate?.(next, old, context)
    else if (subresource !== 'binding') countGeneration(next, old, kind)
  } else {
    if (kind.subresources.some(({ name }) => name === 'status')) keepMember(next, old, 'status')
    strategy.prepareForUpdate?.(next, old, context)
    countGeneration(next, old, kind)
  }
  setDefaults(next, kind)
}

/** Kinds whose controllers read annotations as if they were spec. */
const countsAnnotations: ReadonlySet<string> = new Set(['apps/Deployment'])

function countGeneration(next: AnyObject, old: AnyObject, kind: Kind): void {
  if (!hasGeneration(kind)) return
  const countsLabels = kind.kind === 'EndpointSlice'
  const isSame =
    (!countsLabels || equalJson(next.metadata.labels ?? {}, old.metadata.labels ?? {})) &&
    equalJson(bodyOf(next), bodyOf(old)) &&
    !(kind.strategy.countsSentEmpty && hasSentEmpty(next, ['metadata', 'status'])) &&
    (!countsAnnotations.has(`${kind.group}/${kind.kind}`) ||
      equalJson(next.metadata.annotations ?? {}, old.metadata.annotations ?? {}))
  if (isSame) return
  next.metadata.generation = (old.metadata.generation ?? 0) + 1
}

/** Restores fields that a client need not repeat and cannot change. */
function keepSystemFields(next: AnyObject, old: AnyObject): void {
  const { metadata } = next
  const before = old.metadata
  delete metadata.selfLink
  metadata.uid ||= before.uid ?? ''
  metadata.creationTimestamp = before.creationTimestamp ?? null
  if (before.deletionTimestamp !== undefined)
    metadata.deletionTimestamp ??= before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds
  }
  if (before.generation === undefined) delete metadata.generation
  else metadata.generation = before.generation
}

function keepMember<T extends object>(next: T, old: T, key: keyof T): void {
  const before = old[key]
  if (before === undefined) delete next[key]
  else next[key] = before
}

/** Returns the part whose changes a generation counts. */
function bodyOf(object: AnyObject): Record<string, unknown> {
  const { metadata: _metadata, status: _status, ...body } = object
  return body
}

function causesOfUpdate(next: AnyObject, old: AnyObject, scope: RequestScope): StatusCause[] {
  const { kind } = scope.reader
  const { subresource } = scope
  const own = validationOf(scope)?.(next, old, (text) => scope.warn(text)) ?? []
  const form = subresource === '' ? (kind.strategy.validateForm?.(next) ?? []) : []
  return checkUpdate(next.metadata, old.metadata, { kind, subresource, form, own })
}

function warnOfUpdate(next: AnyObject, old: AnyObject, scope: RequestScope): void {
  const { strategy } = scope.reader.kind
  for (const text of strategy.warnings?.(next, old) ?? []) scope.warn(text)
}

function validationOf({ reader, subresource }: RequestScope) {
  const { strategy } = reader.kind
  if (subresource === 'status') return strategy.validateStatusUpdate
  // A subresource may change fields that an update of the whole may not.
  if (subresource === '') return strategy.validateUpdate
  return strategy.parts?.[subresource]?.validate ?? strategy.validate
}
