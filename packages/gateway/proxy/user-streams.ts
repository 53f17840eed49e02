import { StatusError } from '@skerry/api'
import type { AuthorizedRequest, Route } from '@skerry/apiserver'
import { whenAborted } from '@skerry/base'
import { clusterResource } from '@skerry/fleet-kinds'
import { parseClusterTarget } from './cluster-path.ts'
import { userStreamDefaults } from '../limits-table.ts'

export interface UserStreamLimits {
  /** Half of what a tunnel takes, so that one user cannot keep the others from a cluster. */
  readonly perCluster: number
  /** The number of requests to all clusters together. */
  readonly inAll: number
}

interface Held {
  inAll: number
  readonly perCluster: Map<string, number>
}

/**
 * Counts the requests that each user has open to clusters, to bound the share of a hub that one user can
 * hold.
 */
export class UserStreams {
  readonly #limits: UserStreamLimits
  readonly #held = new Map<string, Held>()

  constructor(limits: UserStreamLimits = userStreamDefaults) {
    this.#limits = limits
  }

  /**
   * Takes a place; dispose of it when the request is over (repeated disposal is harmless). Throws
   * TooManyRequests above the bound.
   */
  take(user: string, cluster: string): Disposable {
    const held = this.#held.get(user) ?? { inAll: 0, perCluster: new Map() }
    const here = held.perCluster.get(cluster) ?? 0
    const { perCluster, inAll } = this.#limits
    if (here >= perCluster) throw tooMany(user, cluster, `${perCluster} requests to it`)
    if (held.inAll >= inAll) throw tooMany(user, cluster, `${inAll} requests to clusters`)
    held.inAll += 1
    held.perCluster.set(cluster, here + 1)
    this.#held.set(user, held)
    let isOpen = true
    return {
      [Symbol.dispose]: () => {
        if (isOpen) this.#giveBack(user, cluster, held)
        isOpen = false
      },
    }
  }

  #giveBack(user: string, cluster: string, held: Held): void {
    const here = (held.perCluster.get(cluster) ?? 0) - 1
    if (here > 0) held.perCluster.set(cluster, here)
    else held.perCluster.delete(cluster)
    held.inAll -= 1
    if (held.inAll === 0) this.#held.delete(user)
  }
}

/** The ways to clusters, with so many requests open for each user. */
export function limitUserStreams(
  routes: readonly Route[],
  streams = new UserStreams(),
  clusterOf = (target: string): string => parseClusterTarget(target).cluster,
): Route[] {
  const take = ({ request, user, signal }: AuthorizedRequest): void => {
    const held = streams.take(user.name, clusterOf(request.target))
    // The signal aborts when the exchange is over, however it ended; the client may have disconnected during
    // authentication.
    whenAborted(signal, () => held[Symbol.dispose]())
  }
  return routes.map((route) => {
    const limited: Route = {
      ...route,
      async serve(admitted) {
        take(admitted)
        return route.serve(admitted)
      },
    }
    if (route.upgrade === undefined) return limited
    return {
      ...limited,
      async upgrade(admitted, client) {
        take(admitted)
        return route.upgrade?.(admitted, client)
      },
    }
  })
}

function tooMany(user: string, cluster: string, what: string): StatusError {
  const { group, resource: kind } = clusterResource
  const text = `Cannot reach cluster "${cluster}": "${user}" has ${what} open; end some of them`
  return new StatusError('TooManyRequests', text, {
    details: { name: cluster, group, kind, retryAfterSeconds: 1 },
  })
}
