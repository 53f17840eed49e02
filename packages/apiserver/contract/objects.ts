import type { AnyObject, DeleteOptions, GroupResource } from '@skerry/api'

/**
 * The server's own access to its objects, for authorizers, admission and subresources. Reads come
 * from the watch cache (decoded once, frozen, never older than the last write that this server
 * acknowledged). Writes go through the registry without authorization.
 */
export interface Objects {
  get(resource: GroupResource, namespace: string, name: string): AnyObject | undefined
  /**
   * Returns why the stored bytes of an object cannot be read, or undefined for readable and missing
   * objects.
   */
  unreadable(resource: GroupResource, namespace: string, name: string): string | undefined
  /** Lists all objects, or those of one namespace. */
  list(resource: GroupResource, namespace?: string): readonly AnyObject[]
  /** Changes whenever any object of the resource changes, for memoising derived tables. */
  version(resource: GroupResource): number
  create(resource: GroupResource, object: AnyObject): Promise<AnyObject>
  /**
   * Reads the object, applies `change` to a private copy and writes it; starts over on a conflict.
   * If `change` returns false, the object stays as it is. Throws StatusError NotFound, Invalid, ….
   * With `subresource: 'status'`, only the status is written. Any other subresource (binding,
   * eviction, resize, …) is written as `change` left it, without the kind's update hooks: the
   * subresource's handler has checked it, and may set fields that an update may not.
   */
  update(
    resource: GroupResource,
    key: { namespace: string; name: string; subresource?: string },
    change: (object: AnyObject) => boolean | void,
  ): Promise<AnyObject>
  /** Applies these fields (server-side apply) as that manager, which wins conflicts. */
  apply(
    resource: GroupResource,
    key: { namespace: string; name: string; subresource?: string },
    applied: { manager: string; fields: Readonly<Record<string, unknown>> },
  ): Promise<AnyObject>
  /** Behaves like a DELETE with these options: grace period, propagation and preconditions apply. */
  delete(
    resource: GroupResource,
    namespace: string,
    name: string,
    options?: DeleteOptions,
  ): Promise<void>
}
