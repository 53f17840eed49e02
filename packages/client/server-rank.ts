import { createHash } from 'node:crypto'
import { clientBounds } from './limits-table.ts'

/** A client's knowledge of one API server of its cluster. */
export interface ServerFacts {
  readonly url: string
  /** The shortest answer to a probe, in milliseconds; undefined until there was one. */
  readonly fastestMs: number | undefined
  /** True if the cluster names it as one of its servers now; the address of a first join may be older. */
  readonly isNamed: boolean
}

/**
 * Orders servers, the preferred first: one on this machine, then the near ones that the cluster names, then what the
 * operator gave. Clients spread over servers that are as near, each by its own name, so that none gets all of them.
 */
export function rankServers(servers: readonly ServerFacts[], client: string): string[] {
  return servers
    .map((server) => ({
      url: server.url,
      rank: rankOf(server),
      share: shareOf(server.url, client),
    }))
    .toSorted((a, b) => a.rank - b.rank || (a.share < b.share ? -1 : 1))
    .map(({ url }) => url)
}

const { farMs } = clientBounds.serverRank
const unprobed = farMs.length + 1
const lastResort = unprobed + 1

function rankOf({ url, fastestMs, isNamed }: ServerFacts): number {
  if (/^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)) return -1
  if (!isNamed) return lastResort
  if (fastestMs === undefined) return unprobed
  const nearer = farMs.findIndex((ms) => fastestMs < ms)
  return nearer < 0 ? farMs.length : nearer
}

/** Rendezvous hashing: a server that goes moves only its own clients. */
export function shareOf(url: string, client: string): string {
  return createHash('sha256').update(`${client} ${url}`).digest('hex')
}
