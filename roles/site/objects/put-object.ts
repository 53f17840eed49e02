import { isStatusError, type AnyObject, type GroupResource } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'

/** Creates the object unless there is one with its name. */
export async function ensureObject(
  objects: Objects,
  resource: GroupResource,
  wanted: AnyObject,
): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  if (objects.get(resource, namespace, name) !== undefined) return
  try {
    await objects.create(resource, wanted)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}

/** Creates the object, or makes it what is wanted, except for its metadata. */
export async function putObject(
  objects: Objects,
  resource: GroupResource,
  wanted: AnyObject,
): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  if (objects.get(resource, namespace, name) === undefined) {
    return ensureObject(objects, resource, wanted)
  }
  await objects.update(resource, { namespace, name }, (object) => {
    const before = JSON.stringify(object)
    const { metadata: _metadata, ...rest } = wanted
    Object.assign(object, rest)
    return JSON.stringify(object) !== before
  })
}
