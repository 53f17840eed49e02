import type { AnyObject, GroupResource, KubeObject } from '@skerry/api'
import type { Objects } from './objects.ts'

/**
 * Returns an object as its kind's type. The registry decodes every object against its kind's schema
 * before admission sees it and before it is stored; callers name the type of that same kind.
 */
export function typed<T extends KubeObject>(object: AnyObject): T {
  // The type was generated from the schema that the object was checked against.
  return object as unknown as T
}

export function getTyped<T extends KubeObject>(
  objects: Objects,
  resource: GroupResource,
  key: { namespace?: string; name: string },
): T | undefined {
  const object = objects.get(resource, key.namespace ?? '', key.name)
  return object && typed<T>(object)
}

export function listTyped<T extends KubeObject>(
  objects: Objects,
  resource: GroupResource,
  namespace?: string,
): T[] {
  return objects.list(resource, namespace).map((object) => typed<T>(object))
}
