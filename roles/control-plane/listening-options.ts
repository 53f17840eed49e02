import type { TrustedProxies } from '@skerry/apiserver'

/** The address at which a control plane listens. */
export interface ListeningOptions {
  bindAddress: string
  port: number
  /** Names and addresses that clients use, in addition to the machine's own. */
  extraSans?: readonly string[]
  /** The balancers whose PROXY protocol headers name a connection's source. If omitted, none. */
  proxies?: TrustedProxies | undefined
}
