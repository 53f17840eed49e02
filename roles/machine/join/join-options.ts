import type { EdgeCluster, MachineTaint } from '@skerry/provisioning'
import type { LinePackage } from '../../program/package-key.ts'

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
  readonly taints: readonly MachineTaint[]
  readonly way: JoinWay
  /** The offline package that the machine gets from the server. If omitted, it uses its own mirrors. */
  readonly offline: LinePackage | undefined
  /** The port of the API of a site on this machine. */
  readonly apiPort: number
}

/** How the machine reaches what is outside of its network. */
export interface JoinWay {
  /** The URL of an HTTP proxy, without a login. */
  readonly proxy: string | undefined
  /** A file of this machine with user:password for the proxy. */
  readonly proxyCredentialsFile: string | undefined
  /** Further addresses, ranges and domains without proxy. */
  readonly noProxy: readonly string[]
  /** True: a box on the way to the hub opens TLS. */
  readonly isInspected: boolean
}
