import { StatusError } from '@skerry/api'
import type { Authorizer, Route } from '@skerry/apiserver'
import { createCluster } from '@skerry/client'
import { explain } from '@skerry/propagation'
import { version } from '../../runtime/version.ts'
import type { OpenHub } from '../contract/hub-part.ts'

const explainPath = '/hub/v1/explain'

/** Explains the placement of an object with the rights of its asker. */
export function explainRoute({ server, context: { clock, log } }: OpenHub): Route {
  return {
    prefix: explainPath,
    matches: ({ path }) => path === explainPath,
    async serve({ info, user, signal }) {
      if (info.method !== 'GET') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      const of = (name: string): string => info.query.get(name) ?? ''
      const [kind, group, name] = [of('kind'), of('group'), of('name')]
      if (kind === '' || name === '') {
        throw new StatusError('BadRequest', 'Cannot explain: name an object by kind and name')
      }
      const userAgent = `skerry-console/${version}`
      const hub = createCluster(server.transport(user), { log, clock, userAgent })
      const ref = {
        kind: group === '' ? kind : `${kind}.${group}`,
        name,
        namespace: of('namespace') || 'default',
      }
      const told = await explain({ hub, clock }, ref, signal)
      return {
        status: 200,
        headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
        body: Buffer.from(`${JSON.stringify(told)}\n`),
      }
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
