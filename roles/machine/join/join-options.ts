import type { EdgeCluster } from '@skerry/provisioning'

/** The words of a copied line that a node and a site have in common. */
export interface JoinOptions {
  /** The URL of the site or the hub. */
  readonly server: string
  /** The hash of its authority, sha256:<hex>. */
  readonly caHash: string
  /** The token as it came on standard input. */
  readonly token: string
  /** The name of the site. */
  readonly clusterName: string
  readonly network: NonNullable<EdgeCluster['spec']['network']>
  /** The interface whose first IPv4 address is the machine's. If omitted, the one on the way to the server. */
  readonly networkInterface: string | undefined
  readonly labels: Readonly<Record<string, string>>
}
