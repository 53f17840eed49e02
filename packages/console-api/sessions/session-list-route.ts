import { StatusError } from '@skerry/api'
import type { AuthorizedRequest, Authorizer, Route } from '@skerry/apiserver'
import type { Logger } from '@skerry/base'
import { jsonAnswer } from '../request/json-answer.ts'
import { sessionIdOf } from './session-authenticator.ts'
import { sessionsNamespace, type SessionRecord } from './session-record.ts'
import type { SessionStore } from './session-store.ts'

const listPath = '/hub/v1/sessions'
const onePath = /^\/hub\/v1\/sessions\/([0-9a-f]{32})$/

export interface SessionListDeps {
  readonly sessions: Pick<SessionStore, 'open' | 'end'>
  readonly log: Logger
}

/** A session as people see it. Its id is in the audit log, and opens nothing. */
interface ShownSession {
  readonly id: string
  readonly user: string
  /** RFC 3339, as the other times. */
  readonly began: string
  readonly used: string
  readonly expires: string
  /** The address from which it was opened; empty if it is not known. */
  readonly address: string
  readonly by: SessionRecord['by']
  /** True for the session with which this is asked. */
  readonly isThis: boolean
}

/**
 * Lists and ends sessions: to everybody their own, and all to users who may list, or delete, Secrets in their
 * namespace.
 */
export function sessionListRoute(deps: SessionListDeps): Route {
  return {
    prefix: listPath,
    matches: ({ path }) => isListPath(path),
    async serve(admitted) {
      const { method, path } = admitted.info
      const [, id] = onePath.exec(path) ?? []
      if (id === undefined && method === 'GET') return listSessions(admitted, deps)
      if (id !== undefined && method === 'DELETE') return endSession(admitted, id, deps)
      throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
    },
  }
}

function isListPath(path: string): boolean {
  return path === listPath || onePath.test(path)
}

/** Allows every authenticated user: each sees and ends what is theirs. */
export const sessionListAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user, isResourceRequest, path, verb }) {
    const isAsked = !isResourceRequest && ['get', 'delete'].includes(verb) && isListPath(path)
    const isKnown = user.groups.includes('system:authenticated')
    return { verdict: isAsked && isKnown ? 'allow' : 'no-opinion', reason: '' }
  },
})

async function listSessions(admitted: AuthorizedRequest, { sessions }: SessionListDeps) {
  const seesAll = await maySecrets('list', admitted)
  const own = sessionIdOf(admitted.user)
  const shown = sessions
    .open()
    .filter((record) => seesAll || isOf(record, admitted))
    .toSorted((one, other) => other.usedAtMs - one.usedAtMs)
    .map((record) => shownSession(record, own))
  return jsonAnswer(200, { sessions: shown, seesAll })
}

function shownSession(record: SessionRecord, own: string | undefined): ShownSession {
  const { id, user, createdAtMs, usedAtMs, expiresAtMs, address = '', by } = record
  const time = (ms: number): string => new Date(ms).toISOString()
  return {
    id,
    user: user.name,
    began: time(createdAtMs),
    used: time(usedAtMs),
    expires: time(expiresAtMs),
    address,
    by,
    isThis: id === own,
  }
}

async function endSession(
  admitted: AuthorizedRequest,
  id: string,
  { sessions, log }: SessionListDeps,
) {
  const record = sessions.open().find((each) => each.id === id)
  const isMine = record !== undefined && isOf(record, admitted)
  // Others cannot tell whether it exists.
  if (!isMine && !(await maySecrets('delete', admitted, `session-${id}`))) {
    throw new StatusError('NotFound', `Cannot end session: you have no session "${id}"`)
  }
  if (record === undefined) {
    throw new StatusError('NotFound', `Cannot end session: there is no session "${id}"`)
  }
  await sessions.end(id)
  log.info('Console session ended by a person', {
    user: record.user.name,
    session: id,
    by: admitted.user.name,
  })
  return { status: 204, headers: {}, body: new Uint8Array(0) }
}

/** Two users of one name may have different ids, as those of an issuer have. */
function isOf({ user }: SessionRecord, { user: { name, uid = '' } }: AuthorizedRequest): boolean {
  return user.name === name && user.uid === uid
}

async function maySecrets(
  verb: 'list' | 'delete',
  { user, authorizer }: AuthorizedRequest,
  name = '',
): Promise<boolean> {
  const { verdict } = await authorizer.authorize({
    user,
    verb,
    isResourceRequest: true,
    resource: { group: '', version: 'v1', resource: 'secrets' },
    subresource: '',
    name,
    namespace: sessionsNamespace,
    path: '',
  })
  return verdict === 'allow'
}
