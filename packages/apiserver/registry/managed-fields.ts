import type { AnyObject } from '@skerry/api'
import type { RegistryDeps, RequestScope } from './request-scope.ts'

export function trackCreate(object: AnyObject, _scope: RequestScope, _deps: RegistryDeps): void {
  delete object.metadata.managedFields
}

export function trackChange(
  next: AnyObject,
  old: AnyObject,
  _scope: RequestScope,
  _deps: RegistryDeps,
): void {
  if (next.metadata.managedFields === undefined && old.metadata.managedFields) {
    next.metadata.managedFields = old.metadata.managedFields
  }
}
