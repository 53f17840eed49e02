import { StatusError, type AnyObject, type Kind } from '@skerry/api'
import { cloneAsSent, spliceResourceVersion } from '@skerry/bodies'
import { ownTurn } from '@skerry/base'
import { newUid } from '../contract/uid.ts'
import { CachedObject } from '../cache/cached-object.ts'
import { storageKey } from '../cache/watch-cache.ts'
import { admit, admitValid, allCauses, type AdmissionInput } from './admission-chain.ts'
import { setDefaults, writeAsStored } from './decode.ts'
import { companionsOf, reservationLost, tooContended, type Reservation } from './interceptor.ts'
import { checkCreate } from './metadata-checks-table.ts'
import { alreadyExists, generateNameConflict, requireValid } from './registry-errors.ts'
import { versionOf } from './storage-error.ts'
import {
  nameSuffix,
  objectKey,
  paced,
  strategyContext,
  timeText,
  type RegistryDeps,
  type RequestScope,
} from './request-scope.ts'
import { createSteps } from './managed-fields.ts'
import { requireStorable, requireStored } from './object-size.ts'
import { isRelaxedChange } from './relaxed-changes-table.ts'
import { apiServerBounds } from '../limits-table.ts'

/** Changes `object` in place. It must be decoded, defaulted and private. */
export async function createObject(
  object: AnyObject,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<CachedObject> {
  // Only a POST ignores these fields: an apply or a PUT creates with its deletion fields.
  delete object.metadata.deletionTimestamp
  delete object.metadata.deletionGracePeriodSeconds
  if (scope.pace?.isLarge) requireStorable(object, deps.limits)
  await scope.pace?.pause()
  await paced(createSteps(object, scope, deps), scope)
  await admit(
    { operation: 'CREATE', object, oldObject: undefined, name: nameOf(object) },
    scope,
    deps,
  )
  return createAdmitted(object, scope, deps)
}

/**
 * Creates an object that is admitted: fields are tracked, and mutating admission has run. A PUT or
 * an apply that creates ends here, too.
 */
export async function createAdmitted(
  object: AnyObject,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<CachedObject> {
  const { metadata } = object
  const { kind } = scope.reader
  if (scope.pace?.isLarge) requireStorable(object, deps.limits)
  await scope.pace?.pause()
  if (kind.strategy.load) await kind.strategy.load()
  const isGenerated = !metadata.name && Boolean(metadata.generateName)
  const attemptsMax = isGenerated ? deps.limits.generateNameAttemptsMax : 1
  // A reservation that another server was faster with is made again, from the object as it was.
  const isReserved = deps.interceptors[scope.reader.storage] !== undefined
  let lostCount = 0
  for (let attempt = 1; ;) {
    const next = isGenerated || isReserved ? cloneAsSent(object) : object
    if (isGenerated) next.metadata.name = generatedName(metadata.generateName ?? '', deps)
    const created = await tryCreate(next, scope, deps)
    if (created === reservationLost) {
      lostCount += 1
      if (lostCount >= deps.limits.updateAttemptsMax) throw tooContended(kind)
      continue
    }
    if (created) return created
    const name = next.metadata.name ?? ''
    if (!isGenerated) {
      const found = deps.cache.resource(scope.reader.storage).get(objectKey(scope, name))
      const isLeaving = found?.parse().metadata.deletionTimestamp !== undefined
      if (metadata.generateName) throw generateNameConflict(kind, name, isLeaving)
      throw alreadyExists(kind, name, isLeaving)
    }
    if (attempt >= attemptsMax) throw generateNameConflict(kind, name)
    attempt += 1
  }
}

async function tryCreate(
  next: AnyObject,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<CachedObject | typeof reservationLost | undefined> {
  const { reader } = scope
  const { metadata } = next
  prepareForCreate(next, scope, deps)
  const name = metadata.name ?? ''
  await scope.pace?.pause()
  const interceptor = deps.interceptors[reader.storage]
  // Resources that another server gave back count as free as soon as it has said so.
  if (interceptor) await deps.cache.fresh(scope.signal)
  const reservation = interceptor?.onCreate(next, scope)
  try {
    const input = { operation: 'CREATE', object: next, oldObject: undefined, name } as const
    await validateCreate(next, input, scope, deps)
    // An apply or a PUT that creates an object needs a second verb, too.
    await scope.requireVerb('create')
    await admitValid(input, scope, deps)
    const key = objectKey(scope, name)
    if (scope.isDryRun) {
      reservation?.rollback()
      if (deps.cache.resource(reader.storage).get(key)) return undefined
      // Only the stored object must have no version; here the client sees the one it sent.
      const value = await reader.encodeStored(next, scope.signal)
      requireStored(value, deps.limits)
      return dryRunResult(key, value, metadata.resourceVersion)
    }
    requireNoVersion(next)
    return await writeNew(key, next, { scope, deps, reservation })
  } catch (error) {
    reservation?.rollback()
    throw error
  }
}

function requireNoVersion({ metadata }: AnyObject): void {
  if ((versionOf(metadata.resourceVersion ?? '') ?? 0n) === 0n) return
  throw new StatusError('Unknown', 'resourceVersion should not be set on objects to be created', {
    code: 500,
  })
}

async function writeNew(
  key: string,
  next: AnyObject,
  {
    scope,
    deps,
    reservation,
  }: { scope: RequestScope; deps: RegistryDeps; reservation: Reservation | undefined },
): Promise<CachedObject | typeof reservationLost | undefined> {
  const { storage } = scope.reader
  const value = await scope.reader.encodeStored(next, scope.signal)
  requireStored(value, deps.limits)
  await scope.pace?.pause()
  const leaseId = await deps.leases.leaseFor(storage)
  const result = await deps.store.write({
    key: storageKey(storage, key),
    value,
    expectRevision: 0,
    isRelaxed: isRelaxedChange(storage, next, undefined),
    ...(leaseId === undefined ? {} : { leaseId }),
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
  return new CachedObject(key, {
    value,
    revision: result.revision,
    createRevision: result.revision,
  })
}

/**
 * Shows the object as it would be stored, without a resourceVersion except one that the client
 * sent, which may be any text.
 */
function dryRunResult(key: string, value: Uint8Array, version = ''): CachedObject {
  const shown = version === '' ? value : spliceResourceVersion(value, version)
  return new CachedObject(key, { value: shown, revision: 0, createRevision: 0 })
}

function prepareForCreate(next: AnyObject, scope: RequestScope, deps: RegistryDeps): void {
  const { kind } = scope.reader
  const { metadata } = next
  writeAsStored(next, kind)
  delete metadata.selfLink
  if (kind.isNamespaced) metadata.namespace = scope.namespace
  else delete metadata.namespace
  const context = strategyContext(scope, deps)
  metadata.creationTimestamp = timeText(context.nowMs)
  // The uid comes before the kind's own preparation: a Job's selector contains it.
  metadata.uid = newUid(deps.random)
  // An apply has not tracked these fields, so nobody owns them then.
  kind.strategy.setTimes?.(next, context.nowMs)
  kind.strategy.prepareForCreate?.(next, context)
  if (hasGeneration(kind)) metadata.generation = 1
  else if (metadata.generation === 0) delete metadata.generation
  setDefaults(next, kind)
}

async function validateCreate(
  next: AnyObject,
  input: AdmissionInput,
  scope: RequestScope,
  deps: RegistryDeps,
): Promise<void> {
  const { kind } = scope.reader
  const { strategy } = kind
  // Rules of a definition may use their whole budget, whatever the size of the object.
  if (kind.isCustom) await ownTurn(deps.clock)
  const own = checkCreate(next, kind)
  await scope.pace?.pause()
  requireValid(kind, next.metadata.name ?? '', await allCauses(own, input, scope, deps))
  for (const text of strategy.warnings?.(next) ?? []) scope.warn(text)
}

export function hasGeneration(kind: Kind): boolean {
  const { hasGeneration: isSet } = kind.strategy
  if (isSet !== undefined) return isSet
  return kind.isCustom === true || kind.schemas[kind.schemaName]?.properties?.['spec'] !== undefined
}

const { generatedBaseMax } = apiServerBounds.create

function generatedName(base: string, deps: RegistryDeps): string {
  return `${base.slice(0, generatedBaseMax)}${nameSuffix(deps.random)}`
}

function nameOf(object: AnyObject): string {
  return object.metadata.name ?? ''
}
