import { equalJson, type AnyObject } from '@skerry/api'

/**
 * Changes that a power cut may lose, by storage: a calm cluster makes them all day, and their writer makes the next one
 * soon, or needs them as hints only. A change of anything else in these objects is durable. `old` is omitted for a new
 * object.
 */
const relaxedChanges: Readonly<
  Record<string, (next: AnyObject, old: AnyObject | undefined) => boolean>
> = Object.freeze({
  'core/events': () => true,
  // A renewal; who holds the lease is durable.
  'coordination.k8s.io/leases': (next, old) => isSameBut(withoutRenewal, next, old),
  // A heartbeat in the node's status.
  'core/nodes': (next, old) => isSameBut(withoutHeartbeats, next, old),
})

export function isRelaxedChange(
  storage: string,
  next: AnyObject,
  old: AnyObject | undefined,
): boolean {
  if (next.metadata.deletionTimestamp !== undefined) return false
  return relaxedChanges[storage]?.(next, old) ?? false
}

function isSameBut(
  strip: (object: AnyObject) => object,
  next: AnyObject,
  old: AnyObject | undefined,
): boolean {
  return old !== undefined && equalJson(strip(next), strip(old))
}

function withoutRenewal({ metadata, ...rest }: AnyObject): object {
  return { ...rest, metadata: lasting(metadata), spec: without(rest['spec'], 'renewTime') }
}

function withoutHeartbeats({ metadata, ...rest }: AnyObject): object {
  const status = rest['status']
  if (!isRecord(status) || !Array.isArray(status['conditions'])) return { ...rest, metadata }
  const conditions = status['conditions'].map((each) => without(each, 'lastHeartbeatTime'))
  return { ...rest, metadata: lasting(metadata), status: { ...status, conditions } }
}

/** Version and times of managed fields change with each write. */
function lasting({ resourceVersion: _version, managedFields, ...rest }: AnyObject['metadata']) {
  return { ...rest, managedFields: managedFields?.map((each) => without(each, 'time')) }
}

function without(value: unknown, name: string): unknown {
  if (!isRecord(value)) return value
  const { [name]: _left, ...rest } = value
  return rest
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
