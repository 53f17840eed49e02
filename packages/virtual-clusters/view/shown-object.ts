import { isJsonObject, type JsonObject } from '@skerry/api'
import { isSharingKey } from '@skerry/cluster-agent'
import { groupLabel, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { virtualClusterBounds } from '../limits-table.ts'

/** The names under which a virtual cluster sees the edge's objects. */
export interface ShownNames {
  readonly clusterName: string
  /** Returns its name for a namespace of the edge; undefined if that is not its own. */
  namespace(member: string): string | undefined
}

/** The kind of an object, or of a list's objects. */
export interface ShownKind {
  readonly group: string
  readonly kind: string
}

const namespaceNameLabel = 'kubernetes.io/metadata.name'
const ownPrefix = 'edge.skerry.io/'
const { depthMax } = virtualClusterBounds.shownObject
/** Fields that hold users' own data, which stays as it is. */
const opaqueFields: ReadonlySet<string> = new Set(['data', 'binaryData', 'stringData'])
const opaqueKinds: ReadonlySet<string> = new Set(['ConfigMap', 'ControllerRevision', 'Secret'])
const namespaceFields: ReadonlySet<string> = new Set([
  'endpointsNamespace',
  'namespace',
  'secretNamespace',
])
/** The fields with sentences for people. */
const textFields: ReadonlySet<string> = new Set(['message', 'note', 'reason'])
const accountName = /^(system:serviceaccounts?:)([^:]+)(:.+)?$/
const serviceHost = /([a-z0-9-]+)(\.(?:svc|pod)(?:\.cluster\.local)?\.?)$/

/**
 * Returns the object as its virtual cluster has it: the inverse of mapping/, so that an object that was read
 * may be written back. In custom kinds, whose namespaces mapping/ leaves alone, only metadata, status and the
 * nodes of pods change. Pure.
 */
export function shownObject(object: JsonObject, of: ShownKind, names: ShownNames): JsonObject {
  const shown: JsonObject = {}
  const isOpaque = opaqueKinds.has(of.kind) && isNative(of)
  const others = isNative(of) ? names : { clusterName: names.clusterName, namespace: none }
  for (const [key, value] of Object.entries(object)) {
    if (key === 'metadata') shown[key] = shownMetadata(value, of, names)
    else if (isOpaque && opaqueFields.has(key)) shown[key] = value
    else setShown(shown, [key, value], key === 'status' ? names : others, 0)
  }
  return shown
}

function isNative({ group }: ShownKind): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io')
}

function none(): undefined {
  return undefined
}

/** Replaces the edge's names of namespaces in a sentence with the virtual cluster's own. */
export function shownText(text: string, names: ShownNames): string {
  return text.replace(/[a-z0-9](?:[a-z0-9-]*[a-z0-9])?/g, (word) => names.namespace(word) ?? word)
}

function shownMetadata(metadata: unknown, of: ShownKind, names: ShownNames): unknown {
  if (!isJsonObject(metadata)) return metadata
  const kind = of.group === '' ? of.kind : ''
  const { namespace, name, labels, annotations } = metadata
  const shown: JsonObject = { ...metadata }
  if (typeof namespace === 'string') shown['namespace'] = names.namespace(namespace) ?? namespace
  if (isJsonObject(annotations)) {
    const others = Object.entries(annotations).filter(([key]) => !isSharingKey(key))
    setOrDrop(shown, 'annotations', Object.fromEntries(others))
  }
  if (typeof name !== 'string' || !(kind === 'Namespace' || isOwnKind(of))) return shown
  const own = kind === 'Namespace' ? (names.namespace(name) ?? name) : shownOwnName(name, names)
  shown['name'] = own
  if (isJsonObject(labels)) {
    const others = withoutOwn(labels)
    if (Object.hasOwn(others, namespaceNameLabel)) others[namespaceNameLabel] = own
    setOrDrop(shown, 'labels', others)
  }
  return shown
}

/** Reports whether virtual clusters have objects of this kind, without a namespace, under names of their own. */
function isOwnKind({ group, kind }: ShownKind): boolean {
  const apiGroup = { PersistentVolume: '', ClusterRoleBinding: 'rbac.authorization.k8s.io' }
  return Object.entries(apiGroup).some((own) => own[0] === kind && own[1] === group)
}

/** Returns `my-data` for `my--data-east` in `east`; names that the edge generated are the same everywhere. */
export function shownOwnName(name: string, { clusterName }: ShownNames): string {
  const own = name.endsWith(`-${clusterName}`) ? name.slice(0, -clusterName.length - 1) : ''
  const isDoubled = own !== '' && !own.replaceAll('--', '').includes('-')
  return isDoubled ? own.replaceAll('--', '-') : name
}

/** Removes the labels that only the agent writes. */
function withoutOwn(labels: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith(ownPrefix)))
}

function setOrDrop(target: JsonObject, key: string, value: JsonObject): void {
  if (Object.keys(value).length > 0) target[key] = value
  else delete target[key]
}

function setShown(
  target: JsonObject,
  [key, value]: [string, unknown],
  names: ShownNames,
  depth: number,
): void {
  if (key === 'nodeSelector' && isJsonObject(value)) {
    if (value[groupLabel] !== names.clusterName) target[key] = value
    else {
      const { [groupLabel]: _injected, ...chosen } = value
      setOrDrop(target, key, chosen)
    }
  } else if (key === 'namespaceSelector' && isJsonObject(value)) {
    target[key] = shownSelector(value, names)
  } else if (key === 'namespaces' && isJsonObject(value) && isJsonObject(value['selector'])) {
    target[key] = shownRoutes(value, names)
  } else {
    // A plain assignment would take this one name for the prototype.
    Object.defineProperty(target, key, {
      value: shownValue(key, value, names, depth),
      writable: true,
      enumerable: true,
      configurable: true,
    })
  }
}

function shownValue(key: string, value: unknown, names: ShownNames, depth: number): unknown {
  if (typeof value === 'string') return shownString(key, value, names)
  if (typeof value !== 'object' || value === null || depth > depthMax) return value
  if (Array.isArray(value)) {
    const of = key === 'namespaces' ? 'namespace' : key
    return value.map((each: unknown) => shownValue(of, each, names, depth + 1))
  }
  const shown: JsonObject = {}
  for (const entry of Object.entries(value)) setShown(shown, entry, names, depth + 1)
  return shown
}

function shownString(key: string, value: string, names: ShownNames): string {
  if (namespaceFields.has(key)) return names.namespace(value) ?? value
  if (key === 'volumeName') return shownOwnName(value, names)
  if (textFields.has(key)) return shownText(value, names)
  if (value.startsWith('system:serviceaccount')) {
    const [, before = '', namespace = '', after = ''] = accountName.exec(value) ?? []
    const own = names.namespace(namespace)
    return own === undefined ? value : `${before}${own}${after}`
  }
  if (key !== 'externalName' && key !== 'searches') return value
  return value.replace(serviceHost, (whole, namespace: string, after: string) => {
    const own = names.namespace(namespace)
    return own === undefined ? whole : `${own}${after}`
  })
}

/** A selector that was held to the namespaces of this virtual cluster. */
function shownSelector(selector: JsonObject, { clusterName }: ShownNames): JsonObject {
  const { matchLabels, matchExpressions } = selector
  if (!isJsonObject(matchLabels)) return selector
  const { [virtualNamespaceLabels.cluster]: cluster, ...chosen } = matchLabels
  if (cluster !== clusterName) return selector
  const shown: JsonObject = { ...selector }
  const entries = Object.entries(chosen).map(([key, value]) => [shownKey(key), value] as const)
  setOrDrop(shown, 'matchLabels', Object.fromEntries(entries))
  if (Array.isArray(matchExpressions)) {
    shown['matchExpressions'] = matchExpressions.map((each: unknown) =>
      isJsonObject(each) && typeof each['key'] === 'string'
        ? { ...each, key: shownKey(each['key']) }
        : each,
    )
  }
  return shown
}

/** Restores "All" for a gateway that accepts the routes of its whole virtual cluster. */
function shownRoutes(routes: JsonObject, names: ShownNames): JsonObject {
  const { selector, ...others } = routes
  const shown = isJsonObject(selector) ? shownSelector(selector, names) : {}
  if (Object.keys(shown).length > 0) return { ...others, selector: shown }
  return { ...others, from: 'All' }
}

function shownKey(key: string): string {
  return key === virtualNamespaceLabels.namespace ? namespaceNameLabel : key
}
