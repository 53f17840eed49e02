import { isDeepStrictEqual } from 'node:util'
import type { AnyObject } from '@skerry/api'

/** Only finalizers and owner references changed: the garbage collector must be able to do that. */
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
