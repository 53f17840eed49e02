import { join } from 'node:path'
import { bootstrapNamespace, bootstrapSecretType, humanDuration, isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readBody, resources } from '@skerry/client'
import {
  agentTokenGroup,
  clusterNamespace,
  clusterResource,
  conditionTypes,
  revokeAgent,
  tunnelPrefix,
  type Cluster,
} from '@skerry/karmada'
import { openAdminCluster, type AdminCluster } from './admin-cluster.ts'
import { deleteKarmadaAccess } from './karmada-access.ts'
import { printTable } from './print-table.ts'

interface OnHub {
  /** Of the hub. */
  dataDir: string
  output: string | undefined
}

const askMs = 30_000

function openHub({ dataDir }: OnHub): Promise<AdminCluster> {
  return openAdminCluster(join(dataDir, 'admin.kubeconfig'))
}

interface ClusterLine {
  name: string
  version: string
  ready: string
  tunnel: string
  /** Since when the tunnel is so, and when the agent was last heard; RFC 3339. */
  since: string | null
  lastSeen: string | null
  nodes: string
}

export async function printClusters(options: OnHub): Promise<void> {
  const { cluster } = await openHub(options)
  const signal = AbortSignal.timeout(askMs)
  const [clusters, leases] = await Promise.all([
    cluster.resource(clusterResource).list({}, signal),
    cluster.resource(resources.leases).list({ namespace: clusterNamespace }, signal),
  ])
  const seen = new Map(leases.items.map(({ metadata, spec }) => [metadata.name, spec?.renewTime]))
  const lines = clusters.items.map((each) => lineOf(each, seen.get(each.metadata.name)))
  if (options.output === 'json') return console.log(JSON.stringify(lines))
  printTable([
    ['NAME', 'VERSION', 'READY', 'TUNNEL', 'SINCE', 'LAST SEEN', 'NODES'],
    ...lines.map(({ name, version, ready, tunnel, since, lastSeen, nodes }) => [
      name,
      version,
      ready,
      tunnel,
      ageText(since),
      ageText(lastSeen),
      nodes,
    ]),
  ])
}

function lineOf({ metadata, status }: Cluster, lastSeen: string | undefined): ClusterLine {
  const condition = (type: string) => status?.conditions?.find((each) => each.type === type)
  const connected = condition(conditionTypes.connected)
  const { readyNum = 0, totalNum = 0 } = status?.nodeSummary ?? {}
  return {
    name: metadata.name ?? '',
    version: status?.kubernetesVersion ?? '',
    ready: condition(conditionTypes.ready)?.status ?? 'Unknown',
    tunnel: connected?.status === 'True' ? 'open' : 'closed',
    since: connected?.lastTransitionTime ?? null,
    lastSeen: lastSeen ?? null,
    nodes: `${readyNum}/${totalNum}`,
  }
}

function ageText(time: string | null): string {
  const ms = time === null ? NaN : Date.parse(time)
  return Number.isNaN(ms) ? 'never' : humanDuration(Math.max(0, Date.now() - ms))
}

export async function printCluster(options: OnHub & { name: string }): Promise<void> {
  const { name, output } = options
  const { cluster } = await openHub(options)
  const signal = AbortSignal.timeout(askMs)
  const object = await cluster.resource(clusterResource).get({ name }, signal)
  const path = `${tunnelPrefix}${name}`
  const answer = await cluster.raw({ method: 'GET', path, headers: {} }, signal)
  const tunnel: unknown = JSON.parse((await readBody(answer.body)).toString('utf8'))
  if (output === 'json') console.log(JSON.stringify({ cluster: object, tunnel }))
  else {
    // A CommonJS package: in the program's bundle it has its default export alone.
    const { default: yaml } = await import('yaml')
    const { metadata, spec, status } = object
    const { labels, creationTimestamp } = metadata
    const { apiEnablements = [], ...facts } = status ?? {}
    const apis = apiEnablements.map(({ groupVersion }) => groupVersion)
    const shown = { name, labels, registered: creationTimestamp, spec, status: facts, apis, tunnel }
    console.log(yaml.stringify(shown, { aliasDuplicateObjects: false }).trimEnd())
  }
}

export async function revokeCluster(
  options: OnHub & { name: string; deletesObject: boolean },
): Promise<void> {
  const { name } = options
  const { cluster } = await openHub(options)
  const signal = AbortSignal.timeout(askMs)
  await deleteTokens(cluster, name, signal)
  await revokeAgent(cluster, { cluster: name, nowMs: Date.now() }, signal)
  if (options.deletesObject) {
    await deleteKarmadaAccess(cluster, name, signal)
    try {
      await cluster.resource(clusterResource).delete({ name }, signal)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      throw new ExpectedError(`Cannot delete cluster "${name}": the hub has none`, exitCodes.usage)
    }
  }
  if (options.output === 'json') console.log(JSON.stringify({ cluster: name, revoked: true }))
  else
    console.log(
      `Revoked the agent of ${name}; "skerry cluster join-command ${name}" lets it in again`,
    )
}

/** Else whoever holds one could register anew. */
async function deleteTokens(
  hub: AdminCluster['cluster'],
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const secrets = hub.resource(resources.secrets)
  const request = { namespace: bootstrapNamespace, fieldSelector: `type=${bootstrapSecretType}` }
  const { items } = await secrets.list(request, signal)
  for (const { metadata, data } of items) {
    const groups = Buffer.from(data?.['auth-extra-groups'] ?? '', 'base64').toString('utf8')
    if (!groups.split(',').includes(agentTokenGroup(name))) continue
    await secrets.delete({ namespace: bootstrapNamespace, name: metadata.name ?? '' }, signal)
  }
}
