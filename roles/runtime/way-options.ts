/** How a cluster's agent reaches its hub. */
export interface WayFlags {
  proxy?: string | undefined
  proxyCredentialsFile?: string | undefined
  proxyCaFile?: string | undefined
  inspectedTls?: boolean | undefined
}
