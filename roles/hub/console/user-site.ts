import { StatusError } from '@skerry/api'
import type { UserInfo } from '@skerry/apiserver'
import { linkedSignal } from '@skerry/base'
import { createCluster, type ClusterClient, type Transport } from '@skerry/client'
import type { OpenHub } from '../contract/hub-part.ts'
import { hubBounds } from '../limits-table.ts'
import { consoleAgent } from './user-hub.ts'

const { timeoutMs, bytesMax } = hubBounds.userSite

/** The name of a cluster in a path. */
export const clusterPattern = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'

interface Asked {
  readonly user: UserInfo
  /** The cluster's name. */
  readonly name: string
  /** The infinitive of what is done, for errors. */
  readonly doing: string
}

/**
 * Asks a cluster behind the hub with the rights of a user: each request needs their right to reach the cluster, and is in the
 * audit log as theirs. All requests together have one bound of time, and all answers one of bytes.
 */
export async function askSite<Answer>(
  { server, context: { clock, log } }: OpenHub,
  { user, name, doing }: Asked,
  ask: (site: ClusterClient, signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const large = `Cannot ${doing}: the answers of "${name}" have more than ${bytesMax} bytes`
  const transport = below(`/clusters/${name}`, server.transport(user), large)
  const site = createCluster(transport, { log, clock, userAgent: consoleAgent })
  using scope = linkedSignal(signal)
  const late = new StatusError('Timeout', `Cannot ${doing}: "${name}" did not answer in time`)
  using _timer = clock.setTimer(timeoutMs, () => scope.abort(late))
  return await ask(site, scope.signal)
}

/** Anybody may have written what comes from a cluster. */
function below(prefix: string, transport: Transport, large: string): Transport {
  let bytes = 0
  async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) throw new StatusError('RequestEntityTooLarge', large)
      yield chunk
    }
  }
  return {
    async send(request, signal) {
      const answer = await transport.send({ ...request, path: `${prefix}${request.path}` }, signal)
      return { ...answer, body: bounded(answer.body) }
    },
  }
}
