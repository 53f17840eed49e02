import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { StatusError } from '@skerry/api'
import type { ApiRequest, Route } from '@skerry/apiserver'
import type { Clock, Logger } from '@skerry/base'
import { createTunnelServer, type TunnelRegistry } from '@skerry/tunnel'
import type { ReplicaDirectory } from './replica-directory.ts'
import { replicaOfUser, replicaPrefix } from './replica-identity.ts'
import { linkLimits } from '../limits-table.ts'

export interface ReplicaRouteDeps {
  /** Takes the links of the other replicas, by their ids. */
  readonly links: TunnelRegistry
  readonly directory: Pick<ReplicaDirectory, 'find'>
  readonly clock: Clock
  readonly log: Logger
  /** Receives the bytes of each message, in and out. */
  readonly onBytes?: (bytes: number) => void
}

/**
 * Serves `/tunnel/v1/replicas/<id>`: another replica opens its link here. Its certificate must be the one in
 * the directory for this id: a replica's certificate from the hub's authority alone does not suffice.
 */
export function replicaRoute(deps: ReplicaRouteDeps): Route {
  const { links, directory } = deps
  const admitted = new WeakMap<IncomingMessage, string>()
  const server = createTunnelServer(
    {
      registry: links,
      limits: linkLimits,
      async authenticate(request) {
        const identity = admitted.get(request)
        return identity === undefined ? { status: 401, reason: 'unknown replica' } : { identity }
      },
    },
    deps,
  )
  return {
    prefix: replicaPrefix,
    async serve() {
      throw new StatusError('BadRequest', 'Cannot answer: replicas open a tunnel here')
    },
    async upgrade({ request, user }, { socket, head, onRefused }) {
      const id = replicaOfUser(user)
      const replica = id === undefined ? undefined : await directory.find(id)
      if (!replica || certificateHashOf(request) !== replica.certificateHash) {
        const text = `Cannot open link: "${user.name}" is not a replica of this hub`
        throw new StatusError('Forbidden', text)
      }
      const { message } = request
      if (!message) throw new TypeError('Cannot upgrade: the request did not arrive over HTTP/1.1')
      admitted.set(message, replica.id)
      const refused = await server.onUpgrade(message, socket, Buffer.from(head))
      if (refused !== undefined) onRefused?.(refused)
    },
  }
}

function certificateHashOf({ peer }: ApiRequest): string | undefined {
  const leaf = peer.type === 'socket' ? peer.certificates[0] : undefined
  return leaf && createHash('sha256').update(leaf).digest('hex')
}
