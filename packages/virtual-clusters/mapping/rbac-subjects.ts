import type { JsonObject } from '@skerry/api'
import { MappingRefusal } from '@skerry/cluster-agent'
import { textAt } from '@skerry/fleet-kinds'
import { changeAt, ofText } from './change-at.ts'
import type { MemberNames } from './member-names.ts'

const accountUser = /^(?<before>system:serviceaccount:)(?<namespace>[^:]+)(?<after>:.+)$/
const accountGroup = /^(?<before>system:serviceaccounts:)(?<namespace>.+)$/

/**
 * Maps a subject to one virtual cluster: its service accounts, by any form of their name. Throws
 * MappingRefusal for a subject that would cover accounts of every cluster. People stay unchanged.
 */
export function mapSubject(subject: JsonObject, names: MemberNames): JsonObject {
  switch (textAt(subject, 'kind')) {
    case 'ServiceAccount':
      return changeAt(subject, 'namespace', ofText(names.namespace))
    case 'User':
      return changeAt(
        subject,
        'name',
        ofText((name) => withNamespace(name, accountUser, names)),
      )
    case 'Group':
      refuseEveryAccount(textAt(subject, 'name'))
      return changeAt(
        subject,
        'name',
        ofText((name) => withNamespace(name, accountGroup, names)),
      )
    default:
      return subject
  }
}

function withNamespace(name: string, form: RegExp, names: MemberNames): string {
  const { before = '', namespace, after = '' } = form.exec(name)?.groups ?? {}
  return namespace === undefined ? name : `${before}${names.namespace(namespace)}${after}`
}

function refuseEveryAccount(group: string): void {
  if (group !== 'system:serviceaccounts') return
  throw new MappingRefusal(
    'it binds group "system:serviceaccounts", the accounts of all virtual clusters: bind "system:serviceaccounts:<namespace>" instead',
  )
}
