import { StatusError, type JsonObject } from '@skerry/api'
import type { AuthorizedRequest, Route } from '@skerry/apiserver'
import { jsonAnswer, readJsonBody } from '@skerry/console-api'
import { decideRegistration, pendingRegistrations } from '@skerry/membership'
import type { OpenHub } from '../contract/hub-part.ts'
import { hubBounds } from '../limits-table.ts'
import { asksAsUser, hubOf, notAllowed } from './user-hub.ts'

const listPath = '/hub/v1/registrations'
const onePath = /^\/hub\/v1\/registrations\/([a-z0-9][-a-z0-9.]{0,252})$/

const { bodyBytesMax } = hubBounds.registrationsRoute

/**
 * Lists the agents that wait to be accepted, with everything that a person should know first, and takes the decision. Both
 * are done with the rights of the asker.
 */
export function registrationsRoute(hub: OpenHub): Route {
  return {
    prefix: listPath,
    matches: ({ path }) => path === listPath || onePath.test(path),
    async serve(admitted) {
      const { info, user, signal } = admitted
      const [, request] = onePath.exec(info.path) ?? []
      const expected = request === undefined ? 'GET' : 'POST'
      if (info.method !== expected) throw notAllowed()
      if (request !== undefined) return decide(hub, admitted, request)
      const registrations = await pendingRegistrations(hubOf(hub, user), signal)
      return jsonAnswer(200, { registrations })
    },
  }
}

export const registrationsAuthorizer = asksAsUser(
  ['get', 'post'],
  (path) => path === listPath || onePath.test(path),
)

async function decide(
  hub: OpenHub,
  { request: { headers, body }, user, signal }: AuthorizedRequest,
  request: string,
) {
  const doing = 'decide about agent'
  const asked = readDecision(
    await readJsonBody({ headers, body }, { doing, bytesMax: bodyBytesMax }),
  )
  const own = hubOf(hub, user)
  const waiting = await pendingRegistrations(own, signal)
  const found = waiting.find((each) => each.request === request)
  if (found === undefined) {
    throw new StatusError('NotFound', `Cannot ${doing}: no request "${request}" waits`)
  }
  if (found.fingerprint !== asked.fingerprint) {
    const text = `Cannot ${doing}: request "${request}" is for the key ${found.fingerprint}`
    throw new StatusError('Conflict', text)
  }
  const nowMs = hub.context.clock.now()
  await decideRegistration(own, { request, accepts: asked.accepts, nowMs }, signal)
  const { cluster, fingerprint } = found
  return jsonAnswer(200, { cluster, request, fingerprint, accepted: asked.accepts })
}

/** The fingerprint is the one that the person saw. */
function readDecision({ accepts, fingerprint, ...others }: JsonObject) {
  const isComplete = typeof accepts === 'boolean' && typeof fingerprint === 'string'
  if (isComplete && Object.keys(others).length === 0) return { accepts, fingerprint }
  const text = 'Cannot decide about agent: expected {"accepts", "fingerprint"}'
  throw new StatusError('BadRequest', text)
}
