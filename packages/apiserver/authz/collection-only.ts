import { isDeepStrictEqual } from 'node:util'
import type { AnyObject } from '@skerry/api'

/**
 * Returns true if only finalizers and owner references changed, which the garbage collector must be
 * able to do.
 */
export function isCollectionOnly(next: AnyObject, old: AnyObject): boolean {
  return isDeepStrictEqual(withoutCollectionFields(next), withoutCollectionFields(old))
}

function withoutCollectionFields(object: AnyObject): unknown {
  const {
    finalizers: _finalizers,
    ownerReferences: _owners,
    managedFields: _managed,
    resourceVersion: _version,
    ...metadata
  } = object.metadata
  return { ...object, metadata }
}
