/** How a cluster's agent comes to its hub. */
export interface WayFlags {
  proxy?: string | undefined
  proxyCredentialsFile?: string | undefined
  proxyCaFile?: string | undefined
  inspectedTls?: boolean | undefined
}
