/** Nodes that come while somebody waits for them. Pure. */

/** A v1 Node, as far as it is shown. */
export interface NodeObject {
  readonly metadata: {
    readonly name: string
    readonly creationTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
  }
}

export interface JoinedNode {
  readonly name: string
  readonly atMs: number
  readonly isReady: boolean
  readonly address: string
}

/** Lists the nodes that joined since a moment of the hub's clock, the newest first. */
export function joinedNodes(nodes: Iterable<NodeObject>, sinceMs: number): JoinedNode[] {
  // The server counts in whole seconds.
  const fromMs = Math.floor(sinceMs / 1_000) * 1_000
  return [...nodes]
    .map(({ metadata, status = {} }) => {
      const { conditions = [], addresses = [] } = status
      return {
        name: metadata.name,
        atMs: Date.parse(metadata.creationTimestamp ?? ''),
        isReady: conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
        address: addresses.find(({ type }) => type === 'InternalIP')?.address ?? '',
      }
    })
    .filter(({ atMs }) => atMs >= fromMs)
    .toSorted((a, b) => b.atMs - a.atMs)
}
