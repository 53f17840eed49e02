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
import { apiServerBounds } from '../limits-table.ts'

/** Header fields in their original order, with names in any case. Impersonate-Group may occur many times. */
export type HeaderFields = readonly (readonly [name: string, value: string])[]

const extraHeader = /^impersonate-extra-/i

export interface Impersonation {
  /**
   * Returns the user to continue with: the asker, or the user that the asker impersonates. `target`
   * is the raw request target, for askers that may impersonate on some paths only; `own` is what
   * the request asks for, for askers that may impersonate for some requests only. Throws Forbidden
   * or BadRequest.
   */
  apply(
    asker: UserInfo,
    fields: HeaderFields,
    target?: string,
    own?: () => RequestAttributes,
  ): Promise<UserInfo>
}

/**
 * Returns the user that the fields name, or undefined if they name nobody. Does not check any
 * right. Throws BadRequest.
 */
export function impersonatedUser(fields: HeaderFields): UserInfo | undefined {
  const wanted = readFields(fields)
  return wanted && toUser(wanted)
}

const { rememberedMax } = apiServerBounds.impersonation

/** Lets users act as others, as kubectl's --as does, and as the hub's agent does for the fleet's users. */
export function createImpersonation(authorizer: Authorizer): Impersonation {
  /** The mode that last allowed an asker to impersonate is tried first, because most askers use one mode. */
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
  throw new TypeError('Cannot check impersonation: the request is missing')
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
  // The client chooses the keys, so `constructor` and `__proto__` must be ordinary keys.
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

/** Formats a user as Go prints it, because upstream's refusal shows it that way. */
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
    // The key is not percent-encoded, so it is used as it is.
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
