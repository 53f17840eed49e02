import type { MessageName } from '../wire/etcd-messages-table.ts'

/**
 * The names that etcd's own .proto files give to fields and to the values of enumerations, where they do not follow
 * from the names in etcd-messages-table.ts by writing words with underscores.
 */
const ownNames: Readonly<Record<string, string>> = Object.freeze({
  id: 'ID',
  ttl: 'TTL',
  grantedTtl: 'grantedTTL',
  peerUrls: 'peerURLs',
  clientUrls: 'clientURLs',
  isLearner: 'isLearner',
  hashedPassword: 'hashedPassword',
  permType: 'permType',
  'AlarmRequest.memberId': 'memberID',
  'AlarmMember.memberId': 'memberID',
})

/** In these messages words are joined. */
const joined: ReadonlySet<MessageName> = new Set(['StatusResponse', 'AuthStatusResponse'])

export const enumNames: Readonly<Record<string, readonly string[]>> = Object.freeze({
  'Event.type': ['PUT', 'DELETE'],
  'RangeRequest.sortOrder': ['NONE', 'ASCEND', 'DESCEND'],
  'RangeRequest.sortTarget': ['KEY', 'VERSION', 'CREATE', 'MOD', 'VALUE'],
  'Compare.result': ['EQUAL', 'GREATER', 'LESS', 'NOT_EQUAL'],
  'Compare.target': ['VERSION', 'CREATE', 'MOD', 'VALUE', 'LEASE'],
  'WatchCreateRequest.filters': ['NOPUT', 'NODELETE'],
  'AlarmRequest.action': ['GET', 'ACTIVATE', 'DEACTIVATE'],
  'AlarmRequest.alarm': ['NONE', 'NOSPACE', 'CORRUPT'],
  'AlarmMember.alarm': ['NONE', 'NOSPACE', 'CORRUPT'],
  'Permission.permType': ['READ', 'WRITE', 'READWRITE'],
})

/** Numbers of 32 bits, which JSON shows as numbers and not as texts. */
export const smallNumbers: ReadonlySet<string> = new Set([
  'HashResponse.hash',
  'HashKVResponse.hash',
])

/** Fields of which one message has one at most. */
export const exclusiveFields: Partial<Readonly<Record<MessageName, readonly string[]>>> =
  Object.freeze({
    RequestOp: ['requestRange', 'requestPut', 'requestDeleteRange', 'requestTxn'],
    Compare: ['version', 'createRevision', 'modRevision', 'value', 'lease'],
    WatchRequest: ['createRequest', 'cancelRequest', 'progressRequest'],
  })

/** Returns the name of a field in JSON. */
export function jsonNameOf(message: MessageName, field: string): string {
  const own = ownNames[`${message}.${field}`] ?? ownNames[field]
  if (own !== undefined) return own
  return joined.has(message)
    ? field
    : field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Returns the other name under which a field is accepted. */
export function joinedName(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
