import type { AnyObject, DeleteOptions, GroupResource } from '@skerry/api'

/**
 * The server's own view of its objects, for authorizers, admission and subresources. Reads come
 * from the watch cache (decoded once, frozen, never older than the last write this server
 * acknowledged); writes go through the registry without authorization.
 */
export interface Objects {
  get(resource: GroupResource, namespace: string, name: string): AnyObject | undefined
  /** Reports why the stored bytes of an object cannot be read; undefined for readable and missing ones. */
  unreadable(resource: GroupResource, namespace: string, name: string): string | undefined
  /** Every object, or those of one namespace. */
  list(resource: GroupResource, namespace?: string): readonly AnyObject[]
  /** Changes whenever any object of the resource changes; for memoising derived tables. */
  version(resource: GroupResource): number
  create(resource: GroupResource, object: AnyObject): Promise<AnyObject>
  /**
   * Reads, applies `change` to a private copy, writes; starts over on a conflict. Returning false
   * from `change` leaves the object as it is. Throws StatusError NotFound, Invalid, ….
   * `subresource: 'status'` keeps all but the status, as a write of that subresource does. Any other
   * subresource (binding, eviction, resize, …) is written as `change` left it, without the kind's
   * update hooks: the subresource's handler has checked it, and may set what an update may not.
   */
  update(
    resource: GroupResource,
    key: { namespace: string; name: string; subresource?: string },
    change: (object: AnyObject) => boolean | void,
  ): Promise<AnyObject>
  /** Server-side apply of these fields in the name of that manager, who wins conflicts. */
  apply(
    resource: GroupResource,
    key: { namespace: string; name: string; subresource?: string },
    applied: { manager: string; fields: Readonly<Record<string, unknown>> },
  ): Promise<AnyObject>
  /** As a DELETE with these options: grace, propagation and preconditions hold. */
  delete(
    resource: GroupResource,
    namespace: string,
    name: string,
    options?: DeleteOptions,
  ): Promise<void>
}
