/**
 * service-proxy: the network of one node. nftables rules for services and NetworkPolicies, the
 * cluster's DNS, and routes to other nodes' pods. It knows pods only as endpoints and peers, and
 * runs no containers.
 * Start reading at run-service-network.ts, then service-table.ts (the flat layout) and
 * policy/policy-plan.ts.
 */
export { runServiceNetwork, type NodeBalancing, type NodeWatch } from './run-service-network.ts'
export { clearNodeNetwork } from './network/node-network.ts'
export { NetworkHealth } from './network/network-health.ts'
export { createNft } from './nftables/nft.ts'
export type { UsedPort } from './services/machine-ports.ts'
export { topologyOf } from './services/near-endpoints.ts'
export { serviceBalancer } from './services/service-balancer.ts'
export { zoneKey } from './services/node-labels.ts'
export { hostnameKey } from './services/topology-annotations-table.ts'
export { serviceReach } from './services/service-reach.ts'
export { fileSnapshot } from './services/service-snapshot.ts'
export { createNetworkPolicies, type NetworkPolicies } from './policy/network-policies.ts'
export { policySnapshot } from './policy/policy-snapshot.ts'
export { servedPodPeers } from './policy/pod-peer-kind.ts'
export { nodeResolvers } from './dns/forwarder.ts'
