import { applyServerSide, trackUpdate, type AnyObject } from '@skerry/api'
import type { RegistryDeps, RequestScope } from './request-scope.ts'

/** Before admission of a create. */
export function trackCreate(object: AnyObject, scope: RequestScope, deps: RegistryDeps): void {
  trackUpdate({ next: object, ...tracked(scope, deps) })
}

/** Before admission of an update or patch. */
export function trackChange(
  next: AnyObject,
  live: AnyObject,
  scope: RequestScope,
  deps: RegistryDeps,
): void {
  trackUpdate({ live, next, ...tracked(scope, deps) })
}

/** Server-side apply; the result still has to be decoded. */
export function applied(
  request: { live: AnyObject | undefined; applied: AnyObject; isForced: boolean },
  scope: RequestScope,
  deps: RegistryDeps,
): AnyObject {
  const { live, ...rest } = request
  const { kind } = scope.reader.kind
  return applyServerSide({ ...rest, ...(live ? { live } : {}), kind, ...tracked(scope, deps) })
}

function tracked(scope: RequestScope, deps: RegistryDeps) {
  const { kind, apiVersion } = scope.reader
  return {
    schemas: kind.schemas,
    schemaName: kind.schemaName,
    manager: scope.fieldManager,
    apiVersion,
    subresource: scope.subresource,
    nowMs: deps.clock.now(),
    resetFields: resetFieldsOf(scope),
  }
}

/** What the endpoint does not write, and so nobody comes to own through it. */
function resetFieldsOf({ reader, subresource }: RequestScope): readonly (readonly string[])[] {
  const { kind } = reader
  if (subresource === '') {
    return kind.subresources.some(({ name }) => name === 'status') ? [['status']] : []
  }
  if (subresource !== 'status') return []
  const kept = new Set(['apiVersion', 'kind', 'status', ...(kind.isCustom ? [] : ['metadata'])])
  const fields = Object.keys(kind.schemas[kind.schemaName]?.properties ?? {})
  return fields.filter((field) => !kept.has(field)).map((field) => [field])
}
