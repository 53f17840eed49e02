import type { AnyObject, GroupResource } from '@skerry/api'

/**
 * The server's own view of its objects, for authorizers, admission and subresources. Reads come
 * from the watch cache (decoded once, frozen, never older than the last write this server
 * acknowledged); writes go through the registry without authorization.
 */
export interface Objects {
  get(resource: GroupResource, namespace: string, name: string): AnyObject | undefined
  /** Every object, or those of one namespace. */
  list(resource: GroupResource, namespace?: string): readonly AnyObject[]
  /** Changes whenever any object of the resource changes; for memoising derived tables. */
  version(resource: GroupResource): number
  create(resource: GroupResource, object: AnyObject): Promise<AnyObject>
  /**
   * Reads, applies `change` to a private copy, writes; starts over on a conflict. Returning false
   * from `change` leaves the object as it is. Throws StatusError NotFound, Invalid, ….
   */
  update(
    resource: GroupResource,
    key: { namespace: string; name: string; subresource?: string },
    change: (object: AnyObject) => boolean | void,
  ): Promise<AnyObject>
  delete(resource: GroupResource, namespace: string, name: string): Promise<void>
}
