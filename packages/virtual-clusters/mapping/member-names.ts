import { isJsonObject, type JsonObject } from '@skerry/api'
import { MappingRefusal } from '@skerry/cluster-agent'
import { virtualNamespaceLabels, type VirtualGroup } from '@skerry/fleet-kinds'
import { changeAt, ofText } from './change-at.ts'

/** Returns the edge cluster's names for objects of one virtual cluster. */
export interface MemberNames {
  readonly clusterName: string
  /** Throws MappingRefusal of a namespace that the virtual cluster cannot have. */
  readonly namespace: (namespace: string) => string
  /**
   * Maps `data` to `data-east`, for cluster-scoped objects of which each virtual cluster has its own. Dashes
   * are doubled, as in namespaces, so that no two clusters share a name.
   */
  readonly ownName: (name: string) => string
  /** Selects the same namespaces, and none of another virtual cluster. */
  readonly namespaceSelector: (selector: JsonObject) => JsonObject
  /** Maps `web.shop.svc.cluster.local` to `web.shop-east.svc.cluster.local`; other hosts stay. */
  readonly hostName: (host: string) => string
}

/** The label that Kubernetes sets on each namespace, with the name in the edge cluster. */
export const namespaceNameLabel = 'kubernetes.io/metadata.name'
const clusterDomain = 'cluster.local'
/** Splits `web.shop.svc` or `shop.svc.cluster.local` into the namespace and the parts before and after it. */
const serviceHost = new RegExp(
  `^(?<before>(?:[^.]+\\.)*)(?<namespace>[^.]+)(?<after>\\.(?:svc|pod)(?:\\.${clusterDomain.replace('.', '\\.')})?\\.?)$`,
)

export function createMemberNames({ clusterName, namespaces }: VirtualGroup): MemberNames {
  const namespace = (name: string) => namespaces.toMember(name)
  return {
    clusterName,
    namespace,
    ownName: (name) => `${name.replaceAll('-', '--')}-${clusterName}`,
    namespaceSelector: (selector) => ownNamespaces(selector, clusterName),
    hostName(host) {
      const { before = '', namespace: name, after = '' } = serviceHost.exec(host)?.groups ?? {}
      if (name === undefined || isOfEveryCluster(before, name)) return host
      return `${before}${namespace(name)}${after}`
    },
  }
}

/** The API and services of the system are the edge cluster's own. */
function isOfEveryCluster(before: string, namespace: string): boolean {
  return namespace.startsWith('kube-') || (namespace === 'default' && before === 'kubernetes.')
}

/**
 * Rewrites a selector. Namespaces of a virtual cluster have their own names as a label, so values stay as
 * they are.
 */
function ownNamespaces(selector: JsonObject, clusterName: string): JsonObject {
  const selected = selector['matchLabels'] ?? {}
  if (!isJsonObject(selected)) throw new MappingRefusal('a namespace selector has no map of labels')
  const labels = Object.entries(selected)
  const matchLabels = Object.fromEntries([
    ...labels.map(([key, value]) => [ownKey(key), value]),
    [virtualNamespaceLabels.cluster, clusterName],
  ])
  return changeAt({ ...selector, matchLabels }, 'matchExpressions.*.key', ofText(ownKey))
}

function ownKey(key: string): string {
  return key === namespaceNameLabel ? virtualNamespaceLabels.namespace : key
}
