import { StatusError, type JsonObject } from '@skerry/api'
import type { AuthorizedRequest, Route } from '@skerry/apiserver'
import { ExpectedError } from '@skerry/base'
import { jsonAnswer, readJsonBody } from '@skerry/console-api'
import { usersNamespace } from '@skerry/fleet-kinds'
import type { OpenHub } from '../contract/hub-part.ts'
import { hubBounds } from '../limits-table.ts'
import { asksAsUser, hubOf, notAllowed } from './user-hub.ts'

const usersPath = '/hub/v1/users'
const doing = 'add user'

const { bodyBytesMax, groupsMax, ttlSecondsMin, ttlSecondsMax } = hubBounds.usersRoute

/**
 * Lists the tokens of users without anything by which one could be guessed, and makes one, which is in the answer and nowhere
 * else. The asker needs the rights on Secrets that `skerry user` needs.
 */
export function usersRoute(hub: OpenHub): Route {
  return {
    prefix: usersPath,
    matches: ({ path }) => path === usersPath,
    async serve(admitted) {
      const { info, user, signal } = admitted
      if (info.method === 'POST') return addUser(hub, admitted)
      if (info.method !== 'GET') throw notAllowed()
      const { listUserTokens } = await import('../../admin/user-tokens.ts')
      return jsonAnswer(200, { users: await listUserTokens(hubOf(hub, user), signal) })
    },
  }
}

export const usersAuthorizer = asksAsUser(['get', 'post'], (path) => path === usersPath)

async function addUser(hub: OpenHub, admitted: AuthorizedRequest) {
  const { user, signal } = admitted
  // The hash of a token costs much, so nobody else lets the hub compute one.
  await requireRight(admitted)
  const asked = readAsked(await readJsonBody(admitted.request, { doing, bytesMax: bodyBytesMax }))
  const { createUserToken } = await import('../../admin/user-tokens.ts')
  const nowMs = hub.context.clock.now()
  try {
    return jsonAnswer(201, await createUserToken(hubOf(hub, user), asked, nowMs, signal))
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error
    throw new StatusError('BadRequest', error.message, { cause: error })
  }
}

async function requireRight({ user, authorizer }: AuthorizedRequest): Promise<void> {
  const { verdict } = await authorizer.authorize({
    user,
    verb: 'create',
    isResourceRequest: true,
    resource: { group: '', version: 'v1', resource: 'secrets' },
    subresource: '',
    name: '',
    namespace: usersNamespace,
    path: '',
  })
  if (verdict === 'allow') return
  const text = `secrets is forbidden: User "${user.name}" cannot create resource "secrets" in API group "" in the namespace "${usersNamespace}"`
  throw new StatusError('Forbidden', text, { details: { kind: 'secrets' } })
}

function readAsked({ name, groups = [], ttlSeconds, ...others }: JsonObject) {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw refused(`there is no field "${unknown}"`)
  if (typeof name !== 'string') throw refused('name must be a text')
  if (!Array.isArray(groups) || groups.length > groupsMax) {
    throw refused(`groups must be a list of at most ${groupsMax} texts`)
  }
  const named = groups.flatMap((group) => (typeof group === 'string' ? [group] : []))
  if (named.length < groups.length) throw refused('groups must be a list of texts')
  if (ttlSeconds === undefined) return { name, groups: named, ttlMs: undefined }
  const isTime = typeof ttlSeconds === 'number' && Number.isSafeInteger(ttlSeconds)
  if (!isTime || ttlSeconds < ttlSecondsMin || ttlSeconds > ttlSecondsMax) {
    throw refused(`ttlSeconds must be a whole number from ${ttlSecondsMin} to ${ttlSecondsMax}`)
  }
  return { name, groups: named, ttlMs: ttlSeconds * 1_000 }
}

function refused(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot ${doing}: ${why}`)
}
