import {
  cloneJson,
  isJsonObject,
  memberOf,
  type AnyObject,
  type JsonObject,
  type Kind,
} from '@skerry/api'

/**
 * The fields that a subresource writes; all others keep their values. `[]` after a name means in
 * each item, matched by its name.
 */
const parts: Readonly<Record<string, readonly string[]>> = Object.freeze({
  status: ['status'],
  finalize: ['spec.finalizers'],
  ephemeralcontainers: ['spec.ephemeralContainers'],
  approval: ['status.conditions'],
  resize: [
    'spec.containers[].resources',
    'spec.containers[].resizePolicy',
    'spec.initContainers[].resources',
    'spec.resources',
  ],
})

/** Returns true for subresources that are a part of their object and are read and written as the object. */
export function isPart(subresource: string): boolean {
  return Object.hasOwn(parts, subresource)
}

/** Makes `next` the old object with the part taken from it. The metadata stays the client's. */
export function keepAllButPart(
  next: AnyObject,
  old: AnyObject,
  { kind, subresource }: { kind: Kind; subresource: string },
): void {
  // The subresource's own handler (binding, eviction) wrote this and has checked its change.
  if (subresource !== 'scale' && !isPart(subresource)) return
  const wanted = cloneJson(next)
  for (const key of Object.keys(next)) if (key !== 'metadata') delete next[key]
  for (const [key, value] of Object.entries(old)) {
    if (key !== 'metadata') next[key] = cloneJson(value)
  }
  const paths = subresource === 'scale' ? scalePaths(kind) : (parts[subresource] ?? [])
  for (const path of paths) copyPath(wanted, next, path.split('.'))
  const { metadata } = next
  if (keepsMetadata({ kind, subresource })) {
    const { managedFields, resourceVersion } = metadata
    // This write determines the owners, even if it lists none.
    const { managedFields: _before, ...kept } = old.metadata
    next.metadata = { ...kept, ...(managedFields ? { managedFields } : {}) }
    if (resourceVersion !== undefined) next.metadata.resourceVersion = resourceVersion
  } else if (old.metadata.ownerReferences) metadata.ownerReferences = old.metadata.ownerReferences
  else delete metadata.ownerReferences
}

/** Kinds whose status endpoint ignores labels, annotations and finalizers. */
const statusAlone: ReadonlySet<string> = new Set([
  'DeviceTaintRule',
  'FlowSchema',
  'PriorityLevelConfiguration',
  'ResourceClaim',
  'ServiceCIDR',
  'StorageVersionMigration',
  'ValidatingAdmissionPolicy',
])

export function keepsMetadata({ kind, subresource }: { kind: Kind; subresource: string }): boolean {
  if (subresource === 'ephemeralcontainers' || subresource === 'resize') return true
  return kind.isCustom === true || (subresource === 'status' && statusAlone.has(kind.kind))
}

function scalePaths(kind: Kind): string[] {
  const scale = kind.subresources.find(({ name }) => name === 'scale')?.scale
  return scale ? [scale.specReplicasPath.slice(1)] : []
}

function copyPath(from: JsonObject, to: JsonObject, [head = '', ...rest]: readonly string[]): void {
  const key = head.replace('[]', '')
  const value = memberOf(from, key)
  if (rest.length === 0) {
    if (value === undefined) delete to[key]
    else to[key] = value
    return
  }
  if (head.endsWith('[]')) {
    copyItems(value, to[key], rest)
    return
  }
  if (!isJsonObject(value)) return
  const target = memberOf(to, key)
  if (isJsonObject(target)) copyPath(value, target, rest)
  else {
    const made: JsonObject = {}
    copyPath(value, made, rest)
    to[key] = made
  }
}

function copyItems(from: unknown, to: unknown, rest: readonly string[]): void {
  if (!Array.isArray(from) || !Array.isArray(to)) return
  const named = new Map<unknown, unknown>(
    from.map((item: unknown) => [isJsonObject(item) ? item['name'] : undefined, item]),
  )
  for (const item of to as unknown[]) {
    const source = isJsonObject(item) ? named.get(item['name']) : undefined
    if (isJsonObject(item) && isJsonObject(source)) copyPath(source, item, rest)
  }
}
