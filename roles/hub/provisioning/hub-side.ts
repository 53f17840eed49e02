import { ifThere, resources } from '@skerry/client'
import { clusterResource, conditionOf, conditionTypes } from '@skerry/fleet-kinds'
import {
  StepError,
  configurationPatch,
  edgeClusterResource,
  ifSame,
  type EdgeCluster,
  type HubSide,
  type ProgramFiles,
  type ProgramWish,
} from '@skerry/provisioning'
import { createClusterToken } from '../../admin/hub-join-token.ts'
import { deleteFromHub, shutOut } from '../../admin/strike-off.ts'
import { advertised } from '../../runtime/host-addresses.ts'
import type { OpenHub } from '../contract/hub-part.ts'
import { NoProgramError } from '../../program/held-programs.ts'
import { programForMachines, type ProgramOptions } from '../../program/program-for-machines.ts'
import { dialCluster } from './dial-cluster.ts'
import { importSide } from './import-side.ts'
import { claimKey, ownerOf } from './cluster-claim.ts'
import { removeMadeLogins } from './made-logins.ts'
import { claim, mustOwn } from './name-claims.ts'
import { packageForMachine } from './package-for-machine.ts'
import { hubBounds } from '../limits-table.ts'

const { tokenTtlSeconds } = hubBounds.hubSide

/** The parts of a hub that provisioning needs. */
type HubParts = Pick<OpenHub, 'cluster' | 'server' | 'pki' | 'context' | 'way'>

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
    imports: importSide(hub, serverFor),
    dial: (to, edge, signal) => dialCluster(to, edge, hub, signal),
    program: (architecture, signal, wish) => program(architecture, wish, options, signal),
    async recordProgram({ metadata }, { address, version, package: taken }, signal) {
      const { namespace = '', name = '', uid = '' } = metadata
      const source = taken === undefined ? {} : { package: taken }
      const status = { programs: { [address]: version }, ...source }
      const patch = { metadata: { uid }, status }
      const edges = cluster.resource(edgeClusterResource)
      await ifSame(edges.patchStatus({ namespace, name, type: 'merge', patch }, signal))
    },
    async recordConfiguration({ metadata }, configuration, signal) {
      const { namespace = '', name = '' } = metadata
      const patch = { status: { configuration: configurationPatch(configuration) } }
      const edges = cluster.resource(edgeClusterResource)
      await ifThere(edges.patchStatus({ namespace, name, type: 'merge', patch }, signal))
    },
    package: (asked, machine) => packageForMachine(asked, machine, options.packages ?? []),
  }
}

/** A program that is not there does not come with another attempt. */
async function program(
  architecture: string,
  wish: ProgramWish | undefined,
  options: ProgramOptions,
  signal: AbortSignal,
): Promise<ProgramFiles> {
  try {
    return await programForMachines(architecture, options, signal, wish)
  } catch (error) {
    if (!(error instanceof NoProgramError)) throw error
    throw new StepError(error.message, { isFinal: true })
  }
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
