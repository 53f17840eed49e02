import { Resolver } from 'node:dns/promises'
import { connect } from 'node:net'
import type { ContainerRuntime } from '@skerry/kubelet'
import { clientBounds } from '../limits-table.ts'
import type { Look, SeenContainer, ServerAddress } from './cut-plan.ts'

const { lookMs } = clientBounds.drillCut

export interface WatchedNode {
  readonly runtime: ContainerRuntime
  readonly servers: readonly ServerAddress[]
  /** The API that the node serves to its pods. Undefined if it serves none. */
  readonly localApi: ServerAddress | undefined
  readonly dns: { readonly server: string; readonly name: string }
}

/** Looks at everything once. Never rejects but with the signal's reason. */
export async function lookAt(node: WatchedNode, atMs: number, signal: AbortSignal): Promise<Look> {
  const [running, hasLocalApi, hasDns, reached] = await Promise.all([
    runningOf(node.runtime, signal),
    node.localApi && isOpen(node.localApi),
    resolves(node.dns),
    Promise.all(node.servers.map(isOpen)),
  ])
  signal.throwIfAborted()
  return { atMs, running, hasLocalApi, hasDns, reachesControlPlane: reached.includes(true) }
}

async function runningOf(
  runtime: ContainerRuntime,
  signal: AbortSignal,
): Promise<SeenContainer[] | undefined> {
  try {
    const all = await runtime.listContainers(AbortSignal.any([signal, AbortSignal.timeout(lookMs)]))
    return all.flatMap(({ id, state, labels, metadata: { name } }) => {
      const namespace = labels['io.kubernetes.pod.namespace']
      const pod = labels['io.kubernetes.pod.name']
      if (state !== 'CONTAINER_RUNNING' || namespace === undefined || pod === undefined) return []
      return [{ id, pod: `${namespace}/${pod}`, name }]
    })
  } catch {
    // The finding of the node says so.
    return undefined
  }
}

/** Returns true if something accepts connections there. */
export function isOpen({ address, port }: ServerAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const end = (result: boolean): void => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(lookMs, () => end(false))
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

async function resolves({ server, name }: WatchedNode['dns']): Promise<boolean> {
  const resolver = new Resolver({ timeout: lookMs, tries: 1 })
  resolver.setServers([server])
  try {
    return (await resolver.resolve4(name)).length > 0
  } catch {
    return false
  }
}
