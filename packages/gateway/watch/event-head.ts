/** The part of one event that shows the position of a watch. */
export interface EventHead {
  /** One of ADDED, MODIFIED, DELETED, BOOKMARK and ERROR. */
  readonly type: string
  /** The metadata.resourceVersion of the object, Table or bookmark; omitted if it has none. */
  readonly version?: string
  /** The bookmark that ends the initial events of a WatchList. */
  readonly isInitialEnd: boolean
}

export const initialEndAnnotation = 'k8s.io/initial-events-end'
