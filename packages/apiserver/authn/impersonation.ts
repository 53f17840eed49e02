import { isStatusError, StatusError, quoteGo } from '@skerry/api'
import type { Authorizer, UserInfo } from '../contract/access.ts'
import type { RequestAttributes } from '../contract/request-attributes.ts'
import {
  impersonationModes,
  requireMode,
  type ImpersonationMode,
  type WantedUser,
} from './impersonation-modes.ts'
import {
  anonymousName,
  serviceAccountGroups,
  splitServiceAccountName,
  systemGroups,
} from '../contract/user-names.ts'
import { apiServerBounds } from '../contract/limits-table.ts'

/** Header fields as they came, in order, names in any case; Impersonate-Group may come many times. */
export type HeaderFields = readonly (readonly [name: string, value: string])[]

const impersonateHeader = /^impersonate-/i
const extraHeader = /^impersonate-extra-/i

export interface Impersonation {
  /**
   * The user to go on with: the asker, or whom the asker may act as. `target` is the request's, raw,
   * for those who may act as others at some paths only; `own` is what it asks for, for those who may do so
   * for some requests only. Throws Forbidden, BadRequest.
   */
  apply(
    asker: UserInfo,
    fields: HeaderFields,
    target?: string,
    own?: () => RequestAttributes,
  ): Promise<UserInfo>
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

const { rememberedMax } = apiServerBounds.impersonation

/** Acting as another user, as kubectl's --as does and as the hub's agent does for the fleet's users. */
export function createImpersonation(authorizer: Authorizer): Impersonation {
  /** The mode that let an asker act as somebody last is tried first: most askers use one mode. */
  const lastModes = new Map<string, ImpersonationMode>()
  return {
    async apply(asker, fields, _target, own) {
      const wanted = readFields(fields)
      if (!wanted) return asker
      const last = lastModes.get(asker.name)
      const modes = last
        ? [last, ...impersonationModes.filter((each) => each !== last)]
        : impersonationModes
      let refusal: unknown
      for (const mode of modes) {
        if (!mode.applies(wanted, asker) || (mode.isConstrained && !own)) continue
        try {
          const request = { asker, wanted, own: own ?? noRequest }
          const groups = await requireMode(mode, request, authorizer)
          if (lastModes.size >= rememberedMax) lastModes.clear()
          lastModes.set(asker.name, mode)
          return toUser({ ...wanted, groups })
        } catch (error) {
          if (!isStatusError(error, 'Forbidden')) throw error
          refusal ??= error
        }
      }
      throw refusal
    },
  }
}

function noRequest(): never {
  throw new TypeError('Cannot ask what the request does: nobody has said it')
}

const impersonationHeader = /^impersonate-/i

function readFields(all: HeaderFields): WantedUser | undefined {
  const fields = all.filter(([name]) => impersonationHeader.test(name))
  if (fields.length === 0) return undefined
  const valuesOf = (wanted: string): string[] =>
    fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)
  const [name = ''] = valuesOf('impersonate-user')
  const [uid = ''] = valuesOf('impersonate-uid')
  const groups = valuesOf('impersonate-group')
  // A client chooses the keys: `constructor` and `__proto__` are keys as any other.
  const values = new Map<string, string[]>()
  for (const [header, value] of fields) {
    if (!extraHeader.test(header)) continue
    const key = unescapeKey(header.replace(extraHeader, '').toLowerCase())
    values.set(key, [...(values.get(key) ?? []), value])
  }
  const extra = Object.fromEntries(values)
  const isAsked = groups.length > 0 || uid !== '' || Object.keys(extra).length > 0
  if (name !== '') return { name, groups, uid, extra }
  if (!isAsked) return undefined
  throw new StatusError(
    'BadRequest',
    `requested ${printUser({ name, groups, uid, extra })} without impersonating a user name`,
  )
}

/** As Go prints a user, which is what upstream's refusal shows. */
function printUser({ name, groups, uid, extra }: WantedUser): string {
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

function toUser({ name, groups, uid, extra }: WantedUser): UserInfo {
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
