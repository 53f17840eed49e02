import type { Transport } from '@skerry/client'
import type { ClusterWay } from '@skerry/gateway'

/** Returns the API of a cluster through its tunnel, as a user in that cluster. */
export function clusterTransport(
  way: Pick<ClusterWay, 'send'>,
  { cluster, user }: { readonly cluster: string; readonly user: string },
): Transport {
  return {
    async send({ method, path, headers, body }, signal) {
      const own: Record<string, string> = { ...headers, 'impersonate-user': user }
      if (body !== undefined) own['content-length'] = String(body.length)
      const sent = body === undefined ? {} : { body }
      const answer = await way.send(cluster, { method, path, headers: own, ...sent }, signal)
      const named = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
      return { status: answer.status, headers: Object.fromEntries(named), body: answer.body }
    },
  }
}
