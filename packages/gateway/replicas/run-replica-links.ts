import { linkedSignal, type Clock, type Logger, type Random, type WakeFlag } from '@skerry/base'
import { runTunnelAgent, type TunnelHandler, type TunnelTls } from '@skerry/tunnel'
import type { ReplicaDirectory } from './replica-directory.ts'
import { replicaPrefix } from './replica-identity.ts'
import { gatewayBounds, linkLimits } from '../limits-table.ts'

export interface ReplicaLinksOptions {
  /** This replica's id. */
  readonly id: string
  readonly tls: () => TunnelTls
  readonly directory: Pick<ReplicaDirectory, 'others'>
  /** Raised when the other replicas may have changed. */
  readonly changed: WakeFlag
  /** Answers from the tunnels that end here. */
  readonly handler: TunnelHandler
}

export interface ReplicaLinksDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Receives the bytes of each message, in and out. */
  readonly onBytes?: (bytes: number) => void
}

const { forgetMs } = gatewayBounds.runReplicaLinks

interface Link extends AsyncDisposable {
  /** When it was last among the others. */
  seenMs: number
}

/** Keeps a link to each other replica, through which that one sends requests for the tunnels that end here. */
export async function runReplicaLinks(
  options: ReplicaLinksOptions,
  deps: ReplicaLinksDeps,
  signal: AbortSignal,
): Promise<never> {
  const { directory, changed } = options
  const links = new Map<string, Link>()
  try {
    for (;;) {
      const nowMs = deps.clock.monotonicMs()
      for (const { id, address } of directory.others.values()) {
        const known = links.get(id)
        if (known) known.seenMs = nowMs
        else links.set(id, openLink(address, options, deps, signal))
      }
      for (const [id, link] of links) {
        if (nowMs - link.seenMs < forgetMs) continue
        links.delete(id)
        await link[Symbol.asyncDispose]()
      }
      using _look = deps.clock.setTimer(forgetMs, () => changed.raise())
      await changed.wait(signal)
    }
  } finally {
    await Promise.all(Array.from(links.values(), (link) => link[Symbol.asyncDispose]()))
  }
}

function openLink(
  address: string,
  { id, tls, handler }: ReplicaLinksOptions,
  deps: ReplicaLinksDeps,
  signal: AbortSignal,
): Link {
  const scope = linkedSignal(signal)
  const url = `${address.replace(/^http/, 'ws')}${replicaPrefix}${id}`
  const endpoint = () => ({ url, tls: tls(), limits: linkLimits })
  const running = runTunnelAgent({ endpoint }, handler, deps, scope.signal).catch(
    (error: unknown) => {
      if (!scope.signal.aborted) throw error
    },
  )
  return {
    seenMs: deps.clock.monotonicMs(),
    async [Symbol.asyncDispose]() {
      scope.abort(new Error('The replica is gone'))
      scope[Symbol.dispose]()
      await running
    },
  }
}
