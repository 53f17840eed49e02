import { StatusError, quoteGo } from '@skerry/api'
import type { Attributes, Authorizer, UserInfo } from '../access.ts'
import { requireAllowed } from '../authz/authorizer-chain.ts'
import {
  anonymousName,
  serviceAccountGroups,
  splitServiceAccountName,
  systemGroups,
} from './user-names.ts'

/** Header fields as they came, in order, names in any case; Impersonate-Group may come many times. */
export type HeaderFields = readonly (readonly [name: string, value: string])[]

const impersonateHeader = /^impersonate-/i
const extraHeader = /^impersonate-extra-/i

export interface Impersonation {
  /**
   * The user to go on with: the asker, or whom the asker may act as. `target` is the request's, raw,
   * for those who may act as others at some paths only. Throws Forbidden, BadRequest.
   */
  apply(asker: UserInfo, fields: HeaderFields, target?: string): Promise<UserInfo>
}

/** Whom the fields name; undefined when they name nobody. Asks nobody's leave. Throws BadRequest. */
export function impersonatedUser(fields: HeaderFields): UserInfo | undefined {
  const wanted = readFields(fields)
  return wanted && toUser(wanted)
}

/** What of the request reaches any handler: everything but the impersonation headers. */
export function withoutImpersonation(fields: HeaderFields): HeaderFields {
  return fields.filter(([name]) => !impersonateHeader.test(name))
}

/** One thing that is impersonated; each needs the verb impersonate on it. */
interface Claim {
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name: string
}

/** Acting as another user, as kubectl's --as does and as the hub's agent does for the fleet's users. */
export function createImpersonation(authorizer: Authorizer): Impersonation {
  return {
    async apply(asker, fields) {
      const wanted = readFields(fields)
      if (!wanted) return asker
      for (const claim of claimsOf(wanted))
        await requireAllowed(authorizer, toQuestion(asker, claim))
      return toUser(wanted)
    },
  }
}

interface Wanted {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid: string
  readonly extra: Readonly<Record<string, readonly string[]>>
}

const impersonationHeader = /^impersonate-/i

function readFields(all: HeaderFields): Wanted | undefined {
  const fields = all.filter(([name]) => impersonationHeader.test(name))
  if (fields.length === 0) return undefined
  const valuesOf = (wanted: string): string[] =>
    fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)
  const [name = ''] = valuesOf('impersonate-user')
  const [uid = ''] = valuesOf('impersonate-uid')
  const groups = valuesOf('impersonate-group')
  const extra: Record<string, string[]> = {}
  for (const [header, value] of fields) {
    if (!extraHeader.test(header)) continue
    const key = unescapeKey(header.replace(extraHeader, '').toLowerCase())
    extra[key] = [...(extra[key] ?? []), value]
  }
  const isAsked = groups.length > 0 || uid !== '' || Object.keys(extra).length > 0
  if (name !== '') return { name, groups, uid, extra }
  if (!isAsked) return undefined
  throw new StatusError(
    'BadRequest',
    `requested ${printUser({ name, groups, uid, extra })} without impersonating a user name`,
  )
}

/** As Go prints a user, which is what upstream's refusal shows. */
function printUser({ name, groups, uid, extra }: Wanted): string {
  const list = (texts: readonly string[]): string =>
    texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map(quoteGo).join(', ')}}`
  const entries = Object.entries(extra).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const more = entries.map(([key, values]) => `${quoteGo(key)}:${list(values)}`).join(', ')
  const map = `map[string][]string${entries.length === 0 ? '(nil)' : `{${more}}`}`
  return `&user.DefaultInfo{Name:${quoteGo(name)}, UID:${quoteGo(uid)}, Groups:${list(groups)}, Extra:${map}}`
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    // Not percent-encoded after all: the key stands as it came.
    return key
  }
}

function claimsOf({ name, groups, uid, extra }: Wanted): Claim[] {
  const account = splitServiceAccountName(name)
  const authentication = 'authentication.k8s.io'
  return [
    account
      ? { group: '', resource: 'serviceaccounts', ...account }
      : { group: '', resource: 'users', name },
    ...groups.map((groupName) => ({ group: '', resource: 'groups', name: groupName })),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map((value) => ({
        group: authentication,
        resource: 'userextras',
        subresource,
        name: value,
      })),
    ),
    ...(uid === '' ? [] : [{ group: authentication, resource: 'uids', name: uid }]),
  ]
}

function toQuestion(asker: UserInfo, claim: Claim): Attributes {
  const { group, resource, ...rest } = claim
  const version = group === '' ? '' : 'v1'
  return {
    ...rest,
    user: asker,
    verb: 'impersonate',
    isResourceRequest: true,
    resource: { group, version, resource },
    path: '',
  }
}

function toUser({ name, groups, uid, extra }: Wanted): UserInfo {
  const account = splitServiceAccountName(name)
  const given = account && groups.length === 0 ? serviceAccountGroups(account.namespace) : groups
  return {
    name,
    groups: [...given, ...impliedGroups(name, given)],
    extra,
    ...(uid === '' ? {} : { uid }),
  }
}

function impliedGroups(name: string, groups: readonly string[]): string[] {
  const { authenticated, unauthenticated } = systemGroups
  if (groups.includes(unauthenticated)) return []
  if (name === anonymousName) return [unauthenticated]
  return groups.includes(authenticated) ? [] : [authenticated]
}
