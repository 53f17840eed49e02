import type { JsonObject } from '@skerry/api'
import { changeAt, ofObject, ofText } from './change-at.ts'
import { mapAllowedRoutes } from './gateway-routes.ts'
import type { MemberNames } from './member-names.ts'
import { mapPeers } from './network-policy.ts'
import { mapSubject } from './rbac-subjects.ts'
import type { References, ReferenceSort } from './reference-table.ts'

/**
 * A copy in which all that is named is called as in the edge cluster. Throws MappingRefusal of what a virtual
 * cluster cannot mean.
 */
export function mapReferences(
  object: JsonObject,
  references: References,
  names: MemberNames,
): JsonObject {
  return Object.entries(references).reduce(
    (mapped, [path, sort]) => changeAt(mapped, path, rules[sort](names)),
    object,
  )
}

type Change = (value: unknown) => unknown

const rules: Readonly<Record<ReferenceSort, (names: MemberNames) => Change>> = {
  namespace: (names) => ofText(names.namespace),
  ownName: (names) => ofText(names.ownName),
  hostName: (names) => ofText(names.hostName),
  namespaceSelector: (names) => ofObject(names.namespaceSelector),
  peers: (names) => (peers) => mapPeers(peers, names),
  subject: (names) => ofObject((subject) => mapSubject(subject, names)),
  allowedRoutes: (names) => ofObject((allowed) => mapAllowedRoutes(allowed, names)),
}
