/**
 * client: one Cluster. REST calls on typed resources, kubeconfig, watch, and the informer cache.
 * It does not decide anything; retries belong to callers, except a watch that must go on.
 * Start reading at transport.ts (the seam), then cluster.ts and informer.ts.
 */
export type { Transport, TransportRequest, TransportResponse } from './transport.ts'
