import {
  applySteps,
  runSteps,
  trackUpdate,
  trackUpdateSteps,
  type FindVersion,
  type KindVersion,
  type Steps,
} from '@skerry/bodies'
import type { AnyObject, Kind, ManagedFieldsEntry } from '@skerry/api'
import { converted } from './conversion-table.ts'
import { apiVersionOf } from './kind-reader.ts'
import { keepsMetadata } from './part-table.ts'
import type { RequestDeps, RequestScope } from './request-scope.ts'

/** Tracks fields before admission of a create. */
export function trackCreate(object: AnyObject, scope: RequestScope, deps: RequestDeps): void {
  runSteps(createSteps(object, scope, deps))
}

export function* createSteps(
  object: AnyObject,
  scope: RequestScope,
  deps: RequestDeps,
): Steps<void> {
  const update = tracked(scope, deps)
  scope.reader.kind.strategy.setTimes?.(object, update.nowMs)
  yield* trackUpdateSteps({ next: object, ...update })
}

/** Tracks the fields of a subresource's own kind, e.g. TokenRequest. */
export function trackBody(
  object: AnyObject,
  schemaName: string,
  scope: RequestScope,
  deps: RequestDeps,
): void {
  const { apiVersion } = object
  const status = [['status']]
  const own = { apiVersion, schemaName, resetFields: status, next: object }
  trackUpdate({ ...tracked(scope, deps), ...own })
}

/** Tracks fields before admission of an update or patch. */
export function trackChange(
  next: AnyObject,
  live: AnyObject,
  scope: RequestScope,
  deps: RequestDeps,
): void {
  runSteps(changeSteps(next, live, scope, deps))
}

export function* changeSteps(
  next: AnyObject,
  live: AnyObject,
  scope: RequestScope,
  deps: RequestDeps,
): Steps<void> {
  const update = tracked(scope, deps)
  scope.reader.kind.strategy.setTimes?.(next, update.nowMs)
  yield* trackUpdateSteps({ live, next, ...update })
  if (scope.subresource !== 'scale') return
  // Upstream's scale endpoint records no time.
  for (const entry of next.metadata.managedFields ?? []) {
    if (entry.subresource === 'scale' && entry.operation === 'Update') delete entry.time
  }
}

/** Performs a server-side apply. The result must still be decoded. */
export function applied(
  request: { live: AnyObject | undefined; applied: AnyObject; isForced: boolean },
  scope: RequestScope,
  deps: RequestDeps,
): AnyObject {
  return runSteps(appliedSteps(request, scope, deps))
}

export function* appliedSteps(
  request: { live: AnyObject | undefined; applied: AnyObject; isForced: boolean },
  scope: RequestScope,
  deps: RequestDeps,
): Steps<AnyObject> {
  const { live, ...rest } = request
  const { kind } = scope.reader.kind
  const own = { ...rest, ...(live ? { live } : {}), kind, ...tracked(scope, deps) }
  return yield* applySteps(own)
}

/** Keeps managedFields that admission webhooks changed only if they are well-formed. */
export function keepValidManagedFields(
  object: AnyObject,
  before: ManagedFieldsEntry[] | undefined,
  { warn }: RequestScope,
): void {
  const wrong = (object.metadata.managedFields ?? []).map(wrongEntry).find((text) => text !== '')
  if (wrong === undefined) return
  if (before === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = before
  warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${wrong}`,
  )
}

function wrongEntry({ operation, apiVersion, fieldsType }: ManagedFieldsEntry, at: number): string {
  // Webhooks may write anything.
  const named: string | undefined = operation
  if (named !== 'Apply' && named !== 'Update') return 'operation must be `Apply` or `Update`'
  if (!apiVersion) return 'apiVersion must not be empty'
  if (!fieldsType) return `missing fieldsType in managed fields entry ${at}`
  if (fieldsType === 'FieldsV1') return ''
  return `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${at}`
}

function tracked(scope: RequestScope, deps: RequestDeps) {
  const { kind, apiVersion } = scope.reader
  return {
    schemas: kind.schemas,
    schemaName: kind.schemaName,
    manager: scope.fieldManager,
    apiVersion,
    subresource: scope.subresource,
    nowMs: deps.clock.now(),
    resetFields: resetFieldsOf(scope),
    ...(kind.isCustom ? {} : { versionOf: versionsOf(kind, deps) }),
  }
}

/** Finds the other versions of a built-in kind. A kind of another group has no fields in common with it. */
function versionsOf(kind: Kind, { kinds }: RequestDeps): FindVersion {
  return (apiVersion) => {
    const other = kinds
      .all()
      .find(
        ({ group, version, resource }) =>
          group === kind.group &&
          resource === kind.resource &&
          apiVersionOf(group, version) === apiVersion,
      )
    return other && kindVersion(kind, other)
  }
}

function kindVersion(own: Kind, other: Kind): KindVersion {
  const { schemas, schemaName } = other
  return {
    schemas,
    schemaName,
    fromOwn: (object) => converted(object, own, other),
    toOwn: (object) => converted(object, other, own),
  }
}

/** Kinds whose own strategy ignores the metadata of a status write. */
const metadataFixed: ReadonlySet<string> = new Set(['APIService', 'VolumeAttachment'])

/**
 * Fields that cannot be owned through an endpoint, in addition to those that follow from its kind.
 * Keyed `Kind/subresource`.
 */
const alsoReset: Readonly<Record<string, readonly (readonly string[])[]>> = Object.freeze({
  // The request itself cannot change, and nobody owns it.
  'CertificateSigningRequest/': [['spec']],
  'CertificateSigningRequest/approval': [['spec'], ['status', 'certificate']],
  'CertificateSigningRequest/status': [['status', 'conditions']],
  'Deployment/status': [['metadata', 'labels']],
  'Pod/status': [
    ['metadata', 'deletionTimestamp'],
    ['metadata', 'ownerReferences'],
  ],
})

/** Returns the fields that the endpoint does not write, so that nobody can own them through it. */
function resetFieldsOf({ reader, subresource }: RequestScope): readonly (readonly string[])[] {
  const { kind } = reader
  const more = kind.isCustom ? [] : (alsoReset[`${kind.kind}/${subresource}`] ?? [])
  if (subresource === 'finalize') return [['status']]
  if (subresource !== '' && subresource !== 'status') return more
  if (subresource === '') {
    const hasStatus = kind.subresources.some(({ name }) => name === 'status')
    return hasStatus ? [['status'], ...more] : more
  }
  const kept = new Set([
    'apiVersion',
    'kind',
    'status',
    ...(keepsMetadata({ kind, subresource }) || metadataFixed.has(kind.kind) ? [] : ['metadata']),
  ])
  const fields = Object.keys(kind.schemas[kind.schemaName]?.properties ?? {})
  return [...fields.filter((field) => !kept.has(field)).map((field) => [field]), ...more]
}
