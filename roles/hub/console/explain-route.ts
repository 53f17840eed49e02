import type { Route } from '@skerry/apiserver'
import type { OpenHub } from '../contract/hub-part.ts'
import { asksAsUser, notAllowed } from './user-hub.ts'

const explainPath = '/hub/v1/explain'

/** Explains the placement of an object with the rights of its asker. */
export function explainRoute(hub: OpenHub): Route {
  return {
    prefix: explainPath,
    matches: ({ path }) => path === explainPath,
    async serve(admitted) {
      if (admitted.info.method !== 'GET') throw notAllowed()
      // Imported with the first question: most hubs are never asked.
      const { explainObject } = await import('./explain-object.ts')
      return explainObject(hub, admitted)
    },
  }
}

/** Each object is read with the user's own rights. */
export const explainAuthorizer = asksAsUser(['get'], (path) => path === explainPath)
