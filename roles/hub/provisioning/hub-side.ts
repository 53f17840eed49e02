import { isStatusError, type ConfigMap } from '@skerry/api'
import { ifThere, resources } from '@skerry/client'
import { clusterResource, conditionOf, conditionTypes } from '@skerry/fleet-kinds'
import { StepError, type EdgeCluster, type HubSide } from '@skerry/provisioning'
import { createClusterToken } from '../../admin/hub-join-token.ts'
import { deleteFromHub, shutOut } from '../../admin/strike-off.ts'
import { advertised } from '../../runtime/host-addresses.ts'
import type { OpenHub } from '../contract/hub-part.ts'
import { programForMachines, type ProgramOptions } from './program-for-machines.ts'
import { hubBounds } from '../limits-table.ts'
import { claimKey, claimLabel, ownerOf } from './cluster-claim.ts'
import { removeMadeLogins } from './made-logins.ts'

const { tokenTtlSeconds } = hubBounds.hubSide

/** The parts of a hub that provisioning needs. */
type HubParts = Pick<OpenHub, 'cluster' | 'server' | 'pki' | 'context'>

/** Returns the hub's side of provisioning: the owners of names, tokens, and the content of files. */
export function hubSide(hub: HubParts, options: ProgramOptions): HubSide {
  const { cluster, server, pki, context } = hub
  const serverFor = ({ spec }: EdgeCluster): string => spec.hubServer ?? advertised(server.address)
  return {
    server: serverFor,
    claim: (name, edge, signal) => claim(name, edge, hub, signal),
    async createToken(clusterName, edge, signal) {
      await mustOwn(clusterName, edge, hub, signal)
      return createClusterToken(
        cluster,
        {
          clusterName,
          server: serverFor(edge),
          caPem: pki.authority.certificatePem,
          ttlSeconds: tokenTtlSeconds,
          // The hub itself has logged in to the machine that gets this token.
          needsAcceptance: false,
        },
        context,
        signal,
      )
    },
    async isReady(name, edge, signal) {
      await mustOwn(name, edge, hub, signal)
      const found = await ifThere(cluster.resource(clusterResource).get({ name }, signal))
      return conditionOf(found?.status?.conditions, conditionTypes.ready)?.status === 'True'
    },
    forget: (name, edge, signal) => forget(name, edge, hub, signal),
    removeLogins: (edge, signal) => removeMadeLogins(edge, cluster, signal),
    read: ({ namespace, kind, name, key }, signal) =>
      read({ namespace, kind, name, key }, hub, signal),
    program: (architecture, signal) => programForMachines(architecture, options, signal),
  }
}

/** Lets an EdgeCluster have a name on the hub that no other cluster has; it keeps the name until it is forgotten. */
async function claim(
  clusterName: string,
  edge: EdgeCluster,
  { cluster }: HubParts,
  signal: AbortSignal,
): Promise<void> {
  const configMaps = cluster.resource(resources.configMaps)
  const key = claimKey(clusterName)
  const owner = ownerOf(edge)
  const known = await ifThere(configMaps.get(key, signal))
  if (known?.data?.['owner'] === owner) return
  const isThere = await ifThere(
    cluster.resource(clusterResource).get({ name: clusterName }, signal),
  )
  if (known !== undefined || isThere !== undefined) throw taken(clusterName, known)
  try {
    const metadata = { ...key, labels: { [claimLabel]: '' } }
    const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { owner } }
    await configMaps.create(made, signal)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    throw taken(clusterName, undefined)
  }
}

/** Rejects unless the name is this EdgeCluster's. Rights are never given because an earlier step was done. */
async function mustOwn(
  clusterName: string,
  edge: EdgeCluster,
  { cluster }: HubParts,
  signal: AbortSignal,
): Promise<void> {
  const configMaps = cluster.resource(resources.configMaps)
  const known = await ifThere(configMaps.get(claimKey(clusterName), signal))
  if (known?.data?.['owner'] !== ownerOf(edge)) throw taken(clusterName, known)
}

function taken(clusterName: string, known: ConfigMap | undefined): StepError {
  const [namespace, name] = known?.data?.['owner']?.split('/') ?? []
  const who = name === undefined ? 'a cluster' : `EdgeCluster ${name} in namespace ${namespace}`
  const text = `the hub has ${who} with the name ${clusterName}: choose another spec.clusterName`
  return new StepError(text, { isFinal: true })
}

/** Removes the cluster if the name is this EdgeCluster's; another's stays as it is. */
async function forget(
  clusterName: string,
  edge: EdgeCluster,
  { cluster, context }: HubParts,
  signal: AbortSignal,
): Promise<void> {
  const configMaps = cluster.resource(resources.configMaps)
  const key = claimKey(clusterName)
  const known = await ifThere(configMaps.get(key, signal))
  if (known?.data?.['owner'] !== ownerOf(edge)) return
  await deleteFromHub(cluster, clusterName, signal)
  await shutOut(cluster, { name: clusterName, nowMs: context.clock.now() }, signal)
  await ifThere(configMaps.delete(key, signal))
}

async function read(
  { namespace, kind, name, key }: Parameters<HubSide['read']>[0],
  { cluster }: HubParts,
  signal: AbortSignal,
): Promise<Buffer> {
  if (kind === 'Secret') {
    const secret = await ifThere(
      cluster.resource(resources.secrets).get({ namespace, name }, signal),
    )
    const value = secret?.data?.[key]
    if (value !== undefined) return Buffer.from(value, 'base64')
  } else {
    const configMap = await ifThere(
      cluster.resource(resources.configMaps).get({ namespace, name }, signal),
    )
    const text = configMap?.data?.[key]
    if (text !== undefined) return Buffer.from(text)
    const binary = configMap?.binaryData?.[key]
    if (binary !== undefined) return Buffer.from(binary, 'base64')
  }
  const text = `${kind} ${name} in namespace ${namespace} has no key ${key}, or does not exist`
  throw new StepError(text, { isFinal: true })
}
