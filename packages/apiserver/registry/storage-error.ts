import { StatusError, quoteGo, type Kind } from '@skerry/api'
import { conflict } from './registry-errors.ts'

/** Upstream's keys that are not named after the resource. */
const keyNames: Readonly<Record<string, string>> = Object.freeze({
  '/endpoints': 'services/endpoints',
  '/nodes': 'minions',
  '/replicationcontrollers': 'controllers',
  '/services': 'services/specs',
  'apiextensions.k8s.io/customresourcedefinitions':
    'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices': 'apiregistration.k8s.io/apiservices',
  'networking.k8s.io/ingresses': 'ingress',
})

/** Refuses a write whose uid is not the stored object's. Upstream's storage refuses it and names its key. */
export function uidConflict(
  kind: Kind,
  target: { namespace: string; name: string },
  uids: { given: string; stored: string },
): StatusError {
  const { group, resource } = kind
  const usual = kind.isCustom ? `${group}/${resource}` : resource
  const { namespace, name } = target
  const object = kind.isNamespaced ? `${namespace}/${name}` : name
  const key = `/registry/${keyNames[`${group}/${resource}`] ?? usual}/${object}`
  const why = `Precondition failed: UID in precondition: ${uids.given}, UID in object meta: ${uids.stored}`
  const text = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
  return conflict(kind, name, text)
}

/** Parses a resourceVersion; an omitted one is 0. Returns undefined if it is not a 64-bit number. */
export function versionOf(text: string): bigint | undefined {
  if (text === '') return 0n
  const version = /^\d{1,32}$/.test(text) ? BigInt(text) : undefined
  return version !== undefined && version < 2n ** 64n ? version : undefined
}

export function unreadableVersion(text: string): StatusError {
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  return new StatusError('Unknown', `strconv.ParseUint: parsing ${quoteGo(text)}: ${why}`)
}

/** Refuses an apply that names the uid of a missing object. */
export function uidOfNothing(uid: string, scope: { reader: { kind: Kind }; name: string }) {
  const text = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  return conflict(scope.reader.kind, scope.name, text)
}
