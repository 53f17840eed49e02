import { StatusError, type AnyObject } from '@skerry/api'
import type { AdmissionPlugin } from '@skerry/apiserver'
import {
  clusterOfReporter,
  clusterResource,
  conditionTypes,
  type Cluster,
  defaultResourceModels,
  virtualOfKey,
  agentLimits,
} from '@skerry/fleet-kinds'

/** The prefix of labels and annotations that only the hub or its operator may set. */
const ownLabelPrefix = 'hub.skerry.io/'

/** The fields of the spec that an agent may set; the others decide where the hub sends requests and workloads. */
const agentFields: ReadonlySet<string> = new Set([
  'syncMode',
  'id',
  'provider',
  'region',
  'zone',
  'zones',
])

/**
 * Limits an agent's reports on its cluster. The hub trusts them, because it has no other source; but they are
 * bounded, and may not set the fields that belong to the hub: the cluster's address, whether its tunnel is
 * open, and the finalizers.
 */
export const agentLimitsPlugin: AdmissionPlugin = {
  name: 'AgentLimits',
  handles: ({ operation, resource, user }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.group === clusterResource.group &&
    resource.resource === 'clusters' &&
    clusterOfReporter(user) !== undefined,
  async validate({ object, oldObject, name }) {
    if (object === undefined) return
    const why = problemOf(clusterOf(object), oldObject && clusterOf(oldObject))
    if (why === undefined) return
    const shown = name || (object.metadata.name ?? '')
    throw new StatusError(
      'Forbidden',
      `clusters.cluster.karmada.io ${JSON.stringify(shown)} is forbidden: its agent ${why}`,
    )
  },
}

function clusterOf(object: AnyObject): Cluster {
  // The registry hands plugins only objects that were decoded as their kind.
  return object as unknown as Cluster
}

/** Returns the violation of its rights or limits, as the end of a sentence; undefined if there is none. */
function problemOf(next: Cluster, old: Cluster | undefined): string | undefined {
  return metadataProblem(next, old) ?? specProblem(next, old) ?? statusProblem(next, old)
}

function metadataProblem({ metadata }: Cluster, old: Cluster | undefined): string | undefined {
  const { labels = {}, annotations = {} } = metadata
  const reserved = Object.entries(labels).find(
    ([key, value]) =>
      key.startsWith(ownLabelPrefix) &&
      // The hub itself has put this one there.
      key !== virtualOfKey &&
      old?.metadata.labels?.[key] !== value,
  )
  if (reserved) return `may not set label ${JSON.stringify(reserved[0])}`
  if (Object.keys(labels).length > agentLimits.labelsMax) {
    return `may set ${agentLimits.labelsMax} labels at most`
  }
  if (bytesOf(annotations) > agentLimits.annotationBytesMax) {
    return `may write ${agentLimits.annotationBytesMax} bytes of annotations at most`
  }
  const isHeld =
    !isSame(metadata.finalizers ?? [], old?.metadata.finalizers ?? []) ||
    !isSame(metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? [])
  return isHeld ? 'may not change finalizers or owners' : undefined
}

function specProblem({ spec }: Cluster, old: Cluster | undefined): string | undefined {
  const before = Object.entries(old?.spec ?? {})
  const names = new Set([...Object.keys(spec), ...before.map(([key]) => key)])
  const valueOf = (fields: object, name: string): unknown =>
    Object.entries(fields).find(([key]) => key === name)?.[1]
  for (const name of names) {
    if (agentFields.has(name) || isOwnModels(name, spec)) continue
    const isChanged = !isSame(valueOf(spec, name), valueOf(old?.spec ?? {}, name))
    if (isChanged) return `may not set spec.${name}`
  }
  const { zones = [], id, provider, region, zone } = spec
  if (zones.length > agentLimits.zonesMax) return `may name ${agentLimits.zonesMax} zones at most`
  return longText({ id, provider, region, zone }) ?? longText(Object.fromEntries(zones.entries()))
}

/** Allows the models that every Cluster without any is given. */
function isOwnModels(field: string, { resourceModels }: Cluster['spec']): boolean {
  return field === 'resourceModels' && isSame(resourceModels, defaultResourceModels)
}

function statusProblem({ status }: Cluster, old: Cluster | undefined): string | undefined {
  if (status === undefined) return undefined
  const { conditions = [], apiEnablements = [], kubernetesVersion } = status
  const connected = (cluster: Cluster | undefined) =>
    cluster?.status?.conditions?.find(({ type }) => type === conditionTypes.connected)
  const isClaimed = !isSame(
    conditions.find(({ type }) => type === conditionTypes.connected),
    connected(old),
  )
  if (isClaimed) return `may not say whether it is connected`
  if (conditions.length > agentLimits.conditionsMax) {
    return `may write ${agentLimits.conditionsMax} conditions at most`
  }
  if (apiEnablements.length > agentLimits.groupVersionsMax) {
    return `may name ${agentLimits.groupVersionsMax} versions of APIs at most`
  }
  const { nodeSummary, resourceSummary } = status
  const names = [resourceSummary?.allocatable, resourceSummary?.allocated]
  if (names.some((each) => Object.keys(each ?? {}).length > agentLimits.resourceNamesMax)) {
    return `may name ${agentLimits.resourceNamesMax} resources at most`
  }
  const { totalNum = 0, readyNum = 0 } = nodeSummary ?? {}
  if (totalNum < 0 || readyNum < 0 || readyNum > totalNum)
    return 'may not report such counts of nodes'
  if (bytesOf(status) > agentLimits.statusBytesMax) {
    return `may write ${agentLimits.statusBytesMax} bytes of status at most`
  }
  return longText({ kubernetesVersion })
}

function longText(texts: Readonly<Record<string, string | undefined>>): string | undefined {
  const max = agentLimits.textCharsMax
  const odd = Object.entries(texts).find(
    ([, text = '']) => text.length > max || /[\p{Cc}\p{Cf}]/u.test(text),
  )
  return odd && `may write ${max} printable characters at most, and ${odd[0]} is another text`
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** Compares values that one decoder made, so that equal ones have their fields in one order. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
