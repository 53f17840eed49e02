/** What of one event says where a watch has come to. */
export interface EventHead {
  /** ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. */
  readonly type: string
  /** metadata.resourceVersion of the object, Table or bookmark; absent: it has none. */
  readonly version?: string
  /** The bookmark that ends the initial events of a WatchList. */
  readonly isInitialEnd: boolean
}

export const initialEndAnnotation = 'k8s.io/initial-events-end'
