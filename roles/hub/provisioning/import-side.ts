import type { Secret } from '@skerry/api'
import { messageOf } from '@skerry/base'
import { createCluster, ifThere, resources, type ClusterClient } from '@skerry/client'
import {
  clusterResource,
  conditionOf,
  conditionTypes,
  registrationResource,
  type ClusterRegistrationStatus,
} from '@skerry/fleet-kinds'
import {
  agentNamespace,
  agentObjectName,
  agentRemovalName,
  agentRemovalUser,
} from '@skerry/membership'
import {
  StepError,
  type EdgeCluster,
  type ImportedState,
  type ImportSide,
  type JoinSecret,
} from '@skerry/provisioning'
import { deleteTokens } from '../../admin/strike-off.ts'
import { version } from '../../runtime/version.ts'
import type { OpenHub } from '../contract/hub-part.ts'
import { hubBounds } from '../limits-table.ts'
import { clusterTransport } from './cluster-transport.ts'
import { mustOwn } from './name-claims.ts'

type ImportParts = Pick<OpenHub, 'cluster' | 'way' | 'context'>

const { importTtlSeconds, renewMs } = hubBounds.hubSide

/** Returns the hub's side of imports. `serverFor` returns the URL at which the agent reaches the hub. */
export function importSide(hub: ImportParts, serverFor: (edge: EdgeCluster) => string): ImportSide {
  const { cluster } = hub
  return {
    async keepJoin(clusterName, edge, signal) {
      await mustOwn(clusterName, edge, hub, signal)
      const known = await joinSecretOf(edge, cluster, signal)
      const expires = textIn(known, 'expires')
      const { name } = joinKey(edge)
      if (Date.parse(expires) - hub.context.clock.now() > renewMs) {
        return { name, expires, isNew: false }
      }
      const status = await register({ clusterName, server: serverFor(edge) }, edge, hub, signal)
      return writeJoin(status, { edge, known }, cluster, signal)
    },
    async endJoin(clusterName, edge, signal) {
      await mustOwn(clusterName, edge, hub, signal)
      const known = await joinSecretOf(edge, cluster, signal)
      if (known) await ifThere(cluster.resource(resources.secrets).delete(joinKey(edge), signal))
      await deleteTokens(cluster, clusterName, signal)
    },
    async state(clusterName, edge, signal) {
      await mustOwn(clusterName, edge, hub, signal)
      return stateOf(clusterName, cluster, signal)
    },
    async removeAgent(clusterName, edge, signal) {
      await mustOwn(clusterName, edge, hub, signal)
      const { isRegistered } = await stateOf(clusterName, cluster, signal)
      if (!isRegistered) return false
      try {
        return await removeAgent(clusterName, hub, signal)
      } catch (error) {
        signal.throwIfAborted()
        throw new StepError(byHand(edge, messageOf(error)))
      }
    },
  }
}

function joinKey({ metadata }: EdgeCluster): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? '', name: `${metadata.name ?? ''}-join` }
}

/** Rejects if somebody else has made a Secret of that name. */
async function joinSecretOf(
  edge: EdgeCluster,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<Secret | undefined> {
  const key = joinKey(edge)
  const known = await ifThere(cluster.resource(resources.secrets).get(key, signal))
  const { uid } = edge.metadata
  if (known === undefined || known.metadata.ownerReferences?.some((each) => each.uid === uid)) {
    return known
  }
  const text = `Secret ${key.name} in namespace ${key.namespace} is not of this cluster: delete it, or choose another name for the EdgeCluster`
  throw new StepError(text, { isFinal: true })
}

function textIn(secret: Secret | undefined, key: string): string {
  return Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8')
}

async function register(
  { clusterName, server }: { readonly clusterName: string; readonly server: string },
  { spec }: EdgeCluster,
  { cluster }: ImportParts,
  signal: AbortSignal,
): Promise<ClusterRegistrationStatus> {
  const registration = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterRegistration',
    metadata: {},
    spec: {
      ...spec.import,
      clusterName,
      server,
      ttlSeconds: importTtlSeconds,
      hubMayRemove: true,
    },
  }
  const { status } = await cluster.resource(registrationResource).create(registration, signal)
  if (status === undefined) throw new StepError('the hub registers the cluster without an answer')
  return status
}

async function writeJoin(
  { manifest, command, token, expires }: ClusterRegistrationStatus,
  { edge, known }: { readonly edge: EdgeCluster; readonly known: Secret | undefined },
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<JoinSecret> {
  const { namespace, name } = joinKey(edge)
  const secrets = cluster.resource(resources.secrets)
  const texts = { manifest, command, token, expires }
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )
  if (known !== undefined) {
    await secrets.patch({ namespace, name, type: 'merge', patch: { data } }, signal)
    return { name, expires, isNew: true }
  }
  const { name: edgeName = '', uid = '' } = edge.metadata
  const owner = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', name: edgeName, uid }
  const labels = { 'hub.skerry.io/edge-cluster': edgeName }
  const metadata = { namespace, name, labels, ownerReferences: [owner] }
  await secrets.create({ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data }, signal)
  return { name, expires, isNew: true }
}

async function stateOf(
  name: string,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<ImportedState> {
  const found = await ifThere(cluster.resource(clusterResource).get({ name }, signal))
  const { conditions, kubernetesVersion, nodeSummary } = found?.status ?? {}
  const connected = conditionOf(conditions, conditionTypes.connected)
  const ready = conditionOf(conditions, conditionTypes.ready)
  const isConnected = connected?.status === 'True'
  const problem = isConnected ? ready?.message : connected?.message
  return {
    isRegistered: found !== undefined,
    isConnected,
    isReady: isConnected && ready?.status === 'True',
    ...(problem === undefined ? {} : { problem }),
    ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
    ...(nodeSummary?.totalNum === undefined ? {} : { nodes: nodeSummary.totalNum }),
  }
}

/**
 * Deletes the agent's namespace, and before that makes it the owner of the agent's other objects: the cluster's garbage
 * collector removes these when the agent, and with it the tunnel, has ended.
 */
async function removeAgent(
  clusterName: string,
  { way, context }: ImportParts,
  signal: AbortSignal,
): Promise<boolean> {
  const transport = clusterTransport(way, { cluster: clusterName, user: agentRemovalUser })
  const { clock, log } = context
  const member = createCluster(transport, { clock, log, userAgent: `skerry-hub/${version}` })
  const namespaces = member.resource(resources.namespaces)
  const found = await ifThere(namespaces.get({ name: agentNamespace }, signal))
  if (found === undefined) return false
  const { uid = '' } = found.metadata
  const owner = { apiVersion: 'v1', kind: 'Namespace', name: agentNamespace, uid }
  const patch = { metadata: { ownerReferences: [owner] } }
  for (const resource of [resources.clusterRoleBindings, resources.clusterRoles]) {
    for (const name of [agentObjectName, agentRemovalName]) {
      await ifThere(member.resource(resource).patch({ name, type: 'merge', patch }, signal))
    }
  }
  await ifThere(namespaces.delete({ name: agentNamespace }, signal))
  return true
}

function byHand({ metadata }: EdgeCluster, why: string): string {
  const { name = '', namespace = '' } = metadata
  const objects = `kubectl delete namespace ${agentNamespace}" and "kubectl delete clusterrole,clusterrolebinding ${agentObjectName} ${agentRemovalName}`
  return `the hub cannot remove the agent: ${why}; in that cluster run "${objects}", then "skerry edge-cluster skip ${name} RemoveAgent --namespace ${namespace}"`
}
