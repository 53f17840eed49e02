/**
 * The service network of one node, without its pods: rules, DNS and routes. Runs until it gets SIGTERM. Arguments: a
 * kubeconfig, a directory, the node's name, and its address.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createHttpsTransport, loadKubeconfig } from '@skerry/client'
import {
  createNetworkPolicies,
  createNft,
  fileSnapshot,
  NetworkHealth,
  policySnapshot,
  runServiceNetwork,
} from '@skerry/service-proxy'

const [kubeconfig = '', directory = '', nodeName = '', nodeAddress = ''] = process.argv.slice(2)
await mkdir(directory, { recursive: true })
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort(new Error('The measurement is over')))

const deps = {
  clock: systemClock,
  random: systemRandom,
  log: createLogger({ level: 'info', destination: process.stderr }),
}
const { transport } = await loadKubeconfig(kubeconfig, {}, { clock: systemClock, environment: {} })
using sender = createHttpsTransport(transport, deps)
const cluster = createCluster(sender, { ...deps, userAgent: 'bench' })
const nft = createNft()
const policies = createNetworkPolicies(nodeName, {
  ...deps,
  cluster,
  nft,
  snapshot: policySnapshot(join(directory, 'network-policies.json')),
})
const config = {
  nodeName,
  nodeAddress,
  clusterCidr: '10.42.0.0/16',
  serviceCidr: '10.43.0.0/16',
  dnsAddress: '10.43.0.10',
  clusterDomain: 'cluster.local',
  resolvers: [],
  reservedAddresses: [],
}
const parts = {
  ...deps,
  cluster,
  nft,
  policies,
  snapshot: fileSnapshot(join(directory, 'service-network.json')),
  podAddress: () => undefined,
  health: new NetworkHealth(),
}
await runServiceNetwork(config, parts, stop.signal).catch((error: unknown) => {
  if (!stop.signal.aborted) throw error
})
