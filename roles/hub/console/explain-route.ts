import { StatusError } from '@skerry/api'
import type { Authorizer, Route } from '@skerry/apiserver'
import type { OpenHub } from '../contract/hub-part.ts'

const explainPath = '/hub/v1/explain'

/** Explains the placement of an object with the rights of its asker. */
export function explainRoute(hub: OpenHub): Route {
  return {
    prefix: explainPath,
    matches: ({ path }) => path === explainPath,
    async serve(admitted) {
      if (admitted.info.method !== 'GET') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      // Imported with the first question: most hubs are never asked.
      const { explainObject } = await import('./explain-object.ts')
      return explainObject(hub, admitted)
    },
  }
}

/** Allows every authenticated user: each object is read with the user's own rights. */
export const explainAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user, isResourceRequest, path, verb }) {
    const isAsked = !isResourceRequest && verb === 'get' && path === explainPath
    const isKnown = user.groups.includes('system:authenticated')
    return { verdict: isAsked && isKnown ? 'allow' : 'no-opinion', reason: '' }
  },
})
