import { StatusError } from '@skerry/api'
import type { Objects, Route } from '@skerry/apiserver'
import { clusterResource } from '@skerry/fleet-kinds'
import { clusterStatesPath, maySeeCluster } from '@skerry/gateway'
import { jsonAnswer } from '../request/json-answer.ts'
import type { TunnelHistory } from './tunnel-history.ts'

export interface HistoryRouteDeps {
  readonly objects: Objects
  readonly history: Pick<TunnelHistory, 'of'>
}

const suffix = '/history'

/**
 * Serves `/hub/v1/cluster-states/<name>/history` to those who may see that cluster's state. Others get the same answer
 * for an existing and a missing one.
 */
export function historyRoute({ objects, history }: HistoryRouteDeps): Route {
  return {
    prefix: `${clusterStatesPath}/`,
    matches: ({ path }) => nameIn(path) !== undefined,
    async serve({ user, authorizer, info }) {
      if (info.method !== 'GET') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      const name = nameIn(info.path) ?? ''
      const { group, resource } = clusterResource
      const details = { name, group, kind: resource }
      if (!(await maySeeCluster(name, { user, authorizer }))) {
        const text = `${resource}.${group} "${name}" is forbidden: User "${user.name}" may neither reach it nor get clusters/tunnel of it`
        throw new StatusError('Forbidden', text, { details })
      }
      const uid = objects.get(clusterResource, '', name)?.metadata.uid
      if (uid !== undefined) return jsonAnswer(200, history.of({ name, uid }))
      throw new StatusError('NotFound', `${resource}.${group} "${name}" not found`, { details })
    },
  }
}

function nameIn(path: string): string | undefined {
  if (!path.startsWith(`${clusterStatesPath}/`) || !path.endsWith(suffix)) return undefined
  const name = path.slice(clusterStatesPath.length + 1, -suffix.length)
  return name === '' || name.includes('/') ? undefined : name
}
