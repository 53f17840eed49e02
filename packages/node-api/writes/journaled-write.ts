import { isJsonObject, type AnyObject, type GroupVersionResource } from '@skerry/api'
import type { BoundPod } from '../access/local-node.ts'
import type { OfflineAccount, Winner } from '../kinds/offline-writes.ts'

export type WriteVerb = 'create' | 'update' | 'patch' | 'apply' | 'delete'

/** A server-side apply as the client sent it. */
export interface AppliedConfiguration {
  readonly configuration: AnyObject
  readonly isForced: boolean
}

/** The writer of an entry, as whom it is replayed. */
export interface Writer {
  readonly user: string
  readonly account: OfflineAccount
  /** The pod whose token the writer showed. */
  readonly pod: BoundPod
}

/** A write that a node has acknowledged. */
export interface JournaledWrite extends Writer {
  readonly verb: WriteVerb
  readonly resource: GroupVersionResource
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly fieldManager: string
  readonly winner: Winner
  /** The time by the node's own clock, in milliseconds since the Unix epoch. */
  readonly atMs: number
  /** The revision that readers of this node see. */
  readonly revision: number
  /** The object before the write. Undefined if there was none. */
  readonly base: AnyObject | undefined
  /** The object after the write. Undefined if it is deleted. */
  readonly edge: AnyObject | undefined
  readonly applied?: AppliedConfiguration
  /** How a delete treats what the object owns. If omitted, as the kind does. */
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
}

/** Names the object of a write, in one text. */
export function objectText({
  resource: { group, resource },
  namespace,
  name,
}: Pick<JournaledWrite, 'resource' | 'namespace' | 'name'>): string {
  return JSON.stringify([group, resource, namespace, name])
}

/** Returns the group and resource in one text. */
export function resourceOf({ group, resource }: Pick<GroupVersionResource, 'group' | 'resource'>) {
  return JSON.stringify([group, resource])
}

/** Returns the same for the object of a write; an empty text if it is damaged. */
export function resourceOfObject(object: string): string {
  try {
    const [group = '', resource = ''] = JSON.parse(object) as string[] // objectText made it
    return resourceOf({ group, resource })
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return ''
    throw error
  }
}

/** The result of two writes of one object, one after the other. */
export type Joined =
  /** They stay two entries. */
  | 'two'
  /** Neither is worth a request: the object never was at the control plane. */
  | 'none'
  | JournaledWrite

/**
 * Joins a write with the one before it of the same object, so that a client that writes one object again and again
 * fills no journal. Only writes of one user and one kind join, because each is replayed with that user's rights.
 */
export function joinWrites(first: JournaledWrite, second: JournaledWrite): Joined {
  const isSameUser = first.user === second.user && first.pod.uid === second.pod.uid
  const isSameVersion = first.resource.version === second.resource.version
  if (!isSameUser || !isSameVersion || first.verb === 'delete') return 'two'
  if (second.verb === 'delete') {
    if (first.base === undefined) return 'none'
    return first.verb === 'apply' ? 'two' : { ...second, base: first.base }
  }
  if (first.fieldManager !== second.fieldManager || second.verb === 'create') return 'two'
  const isApply = second.verb === 'apply'
  if (first.verb === 'create' && !isApply) return { ...second, verb: 'create', base: undefined }
  if (isApply !== (first.verb === 'apply') || first.verb !== second.verb) return 'two'
  return { ...second, base: first.base }
}

/** Reads what `JSON.stringify` has made of a write. Throws TypeError if it is something else. */
export function parseWrite(text: string): JournaledWrite {
  const value: unknown = JSON.parse(text)
  if (isJsonObject(value) && typeof value['verb'] === 'string' && isJsonObject(value['resource'])) {
    // The row's checksum has shown that these are the bytes that WriteJournal wrote.
    return value as unknown as JournaledWrite
  }
  throw new TypeError('Cannot read an entry of the journal: it is not a write')
}
