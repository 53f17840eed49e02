import { StatusError } from '@skerry/api'
import type { Authorizer, UserInfo } from '@skerry/apiserver'
import { createCluster, type ClusterClient } from '@skerry/client'
import { version } from '../../runtime/version.ts'
import type { OpenHub } from '../contract/hub-part.ts'

/** The user agent of requests that the console's routes make. */
export const consoleAgent = `skerry-console/${version}`

/** Returns the hub's API with the rights of a user: each request is authorized and audited as theirs. */
export function hubOf({ server, context: { clock, log } }: OpenHub, user: UserInfo): ClusterClient {
  return createCluster(server.transport(user), {
    log,
    clock,
    userAgent: consoleAgent,
  })
}

/** Allows every authenticated user to ask these paths, behind which each request is the user's own. */
export function asksAsUser(
  methods: readonly string[],
  isPath: (path: string) => boolean,
): Authorizer {
  return Object.freeze<Authorizer>({
    async authorize({ user, isResourceRequest, path, verb }) {
      const isAsked = !isResourceRequest && methods.includes(verb) && isPath(path)
      const isKnown = user.groups.includes('system:authenticated')
      return { verdict: isAsked && isKnown ? 'allow' : 'no-opinion', reason: '' }
    },
  })
}

export function notAllowed(): StatusError {
  return new StatusError('MethodNotAllowed', 'the server does not allow this method here')
}
