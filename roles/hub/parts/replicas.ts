import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { createWakeFlag, runAll, type Task } from '@skerry/base'
import { issueClientCertificate } from '@skerry/bootstrap'
import {
  createReplicaHandler,
  ReplicaDirectory,
  replicaAuthorizer,
  replicaRoute,
  replicasGroup,
  replicaUserName,
  runReplicaLinks,
  type Replica,
} from '@skerry/gateway'
import { hostAddresses } from '../../runtime/host-addresses.ts'
import type { HubPart, OpenHub } from '../contract/hub-part.ts'

export interface ReplicaOptions {
  /** Another replica's pki/replica.key; only for the first start next to others. */
  replicaKeyFile?: string | undefined
  /** The address at which the other replicas reach this one. If omitted, its first address. */
  advertiseAddress?: string | undefined
}

export interface ReplicasGiven extends ReplicaOptions {
  readonly bindAddress: string
  /** False: this hub is alone. */
  readonly hasReplicas: boolean
}

const yearMs = 365 * 24 * 3_600_000
/** The certificate exists only in memory and ends with the process, so nothing renews it. */
const certificateMs = 5 * yearMs

/** Joins the replicas of this hub: each reaches through the others the clusters whose tunnels end there. */
export function replicas(given: ReplicasGiven): HubPart {
  const { hasReplicas, advertiseAddress } = given
  return {
    sans: advertiseAddress ? [advertiseAddress] : [],
    routes: (hub) => (hasReplicas ? [linkRoute(hub)] : []),
    access: () => ({ authorizers: [replicaAuthorizer] }),
    tasks: async (hub) =>
      hasReplicas ? [await join(hub, addressOf(given, hub.server.address))] : [],
  }
}

/** Refuses every replica until this one has joined them. */
function linkRoute({ connections, context: { clock, log, onBytes } }: OpenHub) {
  const { links, replicas: directory } = connections
  return replicaRoute({ links, directory, clock, log, ...(onBytes ? { onBytes } : {}) })
}

function addressOf({ advertiseAddress, bindAddress }: ReplicasGiven, address: string): string {
  const { port } = new URL(address)
  const isAny = /^(0\.0\.0\.0|::)$/.test(bindAddress)
  const host = advertiseAddress ?? (isAny ? (hostAddresses()[0] ?? '127.0.0.1') : bindAddress)
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Joins the replicas on the same store; they reach this one at this address. */
async function join(hub: OpenHub, address: string): Promise<Task> {
  const { connections, store, context } = hub
  const { own, links } = connections
  const changed = createWakeFlag()
  const { self, tls } = await identityOf(hub, address)
  const onReplicas = (): void => {
    changed.raise()
    connections.tellAll()
  }
  const listener = { onCluster: connections.onCluster, onReplicas }
  const directory = new ReplicaDirectory(self, { ...context, store }, listener)
  await directory.load()
  connections.replicas.join(directory, self.id)
  connections.tellAll()
  for (const cluster of own.identities()) directory.setHeld(cluster, true)
  const handler = createReplicaHandler(own, connections.describeOwn)
  const linking = { id: self.id, tls: () => tls, directory, changed, handler }
  return async (scope) => {
    using _links = { [Symbol.dispose]: () => links.closeAll('the hub stops') }
    await runAll(scope, [
      (each) => directory.run(each),
      async (each) => {
        await directory.whenTold(each)
        await runReplicaLinks(linking, context, each)
      },
    ])
    scope.throwIfAborted()
  }
}

/** Creates the identity at each start: a replica is a process. */
async function identityOf({ pki: { authority }, time }: OpenHub, address: string) {
  const id = randomBytes(8).toString('hex')
  const subject = { commonName: replicaUserName(id), organizations: [replicasGroup] }
  const options = { subject, lifetimeMs: certificateMs }
  const issued = await issueClientCertificate(authority, options, time)
  const { raw } = new X509Certificate(issued.certificatePem)
  const certificateHash = createHash('sha256').update(raw).digest('hex')
  const self: Replica = { id, address, certificateHash }
  const { certificatePem: cert, privateKeyPem: key } = issued
  return { self, tls: { ca: authority.certificatePem, cert, key } }
}
