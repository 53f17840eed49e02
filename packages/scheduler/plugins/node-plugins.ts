import {
  matchesNodeAffinity,
  matchesNodeSelectorTerm,
  matchesNodeSelectorTerms,
  toleratesTaint,
  type NodeAffinity,
  type NodeSelectorTerm,
  type Pod,
  type PreferredSchedulingTerm,
  type Taint,
} from '@skerry/api'
import { isNodeEvent } from '../framework/cluster-event.ts'
import { normalizeByMax, refuse, refuseForGood, type Plugin } from '../framework/plugin.ts'
import type { HostPort } from '../framework/pod-info.ts'

export const nodeName: Plugin = {
  name: 'NodeName',
  filter: ({ pod }) => {
    const wanted = pod.pod.spec?.nodeName
    if (wanted === undefined || wanted === '') return undefined
    return (node) =>
      node.name === wanted
        ? undefined
        : refuseForGood("node(s) didn't match the requested node name")
  },
  isHelpedBy: ({ kind }) => kind === 'node-added',
}

export const nodeUnschedulable: Plugin = {
  name: 'NodeUnschedulable',
  filter: ({ pod }) => {
    const taint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }
    const isTolerated = (pod.pod.spec?.tolerations ?? []).some((each) =>
      toleratesTaint(each, taint),
    )
    return (node) =>
      node.node?.spec?.unschedulable === true && !isTolerated
        ? refuseForGood('node(s) were unschedulable')
        : undefined
  },
  isHelpedBy: (event) =>
    isNodeEvent(event, 'taints') && 'node' in event && event.node.spec?.unschedulable !== true,
}

export const taintToleration: Plugin = {
  name: 'TaintToleration',
  weight: 3,
  filter: ({ pod }) => {
    return (node) =>
      isRepelled(pod.pod, node.node?.spec?.taints ?? [])
        ? refuseForGood('node(s) had untolerated taint(s)')
        : undefined
  },
  score: ({ pod }) => {
    const tolerations = (pod.pod.spec?.tolerations ?? []).filter(
      (each) =>
        each.effect === undefined || each.effect === '' || each.effect === 'PreferNoSchedule',
    )
    return {
      of: (node) =>
        (node.node?.spec?.taints ?? []).filter(
          (taint) =>
            taint.effect === 'PreferNoSchedule' &&
            !tolerations.some((each) => toleratesTaint(each, taint)),
        ).length,
      normalize: normalizeByMax(true),
    }
  },
  isHelpedBy: (event, pod) =>
    isNodeEvent(event, 'taints') &&
    'node' in event &&
    !isRepelled(pod, event.node.spec?.taints ?? []),
}

function isRepelled(pod: Pod, taints: readonly Taint[]): boolean {
  const tolerations = pod.spec?.tolerations ?? []
  return taints.some(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
      !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
  )
}

/** `added` is an operator's affinity for every pod of a profile, in addition to the pod's own. */
export function nodeAffinity(added: NodeAffinity = {}): Plugin {
  const addedTerms = added.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  const addedPreferences = added.preferredDuringSchedulingIgnoredDuringExecution ?? []
  return {
    name: 'NodeAffinity',
    weight: 2,
    candidates: ({ pod }) => namedNodes(requiredTerms(pod.pod)),
    filter: ({ pod }) => {
      const { spec } = pod.pod
      const isFree = spec?.nodeSelector === undefined && requiredTerms(pod.pod) === undefined
      if (isFree && addedTerms === undefined) return undefined
      return (node) => {
        if (addedTerms !== undefined && !matchesNodeSelectorTerms(addedTerms, node)) {
          return refuseForGood("node(s) didn't match scheduler-enforced node affinity")
        }
        if (matchesNodeAffinity(spec, node)) return undefined
        return refuseForGood("node(s) didn't match Pod's node affinity/selector")
      }
    },
    score: ({ pod }) => {
      const own = pod.pod.spec?.affinity?.nodeAffinity
      const preferences = [
        ...(own?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
        ...addedPreferences,
      ]
      if (preferences.length === 0) return undefined
      return { of: (node) => preferenceSum(preferences, node), normalize: normalizeByMax(false) }
    },
    isHelpedBy: (event, pod) => {
      if (!isNodeEvent(event, 'labels') || !('node' in event)) return false
      const { name = '', labels = {} } = event.node.metadata
      const node = { name, labels }
      if (addedTerms !== undefined && !matchesNodeSelectorTerms(addedTerms, node)) return false
      return matchesNodeAffinity(pod.spec, node)
    },
  }
}

function requiredTerms(pod: Pod): readonly NodeSelectorTerm[] | undefined {
  return pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms
}

/** Daemon pods select one node by its name. Returns undefined unless every term names its nodes. */
function namedNodes(terms: readonly NodeSelectorTerm[] | undefined): Set<string> | undefined {
  if (terms === undefined) return undefined
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    const named = matchFields.filter(
      ({ key, operator, values }) =>
        key === 'metadata.name' && operator === 'In' && values?.length === 1,
    )
    if (named.length === 0) return undefined
    const [first, ...others] = named.map(({ values }) => values?.[0] ?? '')
    if (others.every((each) => each === first)) names.add(first ?? '')
  }
  return names
}

function preferenceSum(
  preferences: readonly PreferredSchedulingTerm[],
  node: { name: string; labels: Readonly<Record<string, string>> },
): number {
  const met = preferences.filter((each) => matchesNodeSelectorTerm(each.preference, node))
  return met.reduce((sum, each) => sum + each.weight, 0)
}

export const nodePorts: Plugin = {
  name: 'NodePorts',
  filter: ({ pod }) => {
    if (pod.hostPorts.length === 0) return undefined
    return (node) => {
      for (const other of node.pods.values()) {
        if (
          other.hostPorts.some((taken) => pod.hostPorts.some((wanted) => collides(wanted, taken)))
        ) {
          return refuse("node(s) didn't have free ports for the requested pod ports")
        }
      }
      return undefined
    }
  },
  isHelpedBy: (event) => event.kind === 'node-added' || event.kind === 'pod-removed',
}

function collides(wanted: HostPort, taken: HostPort): boolean {
  if (wanted.port !== taken.port || wanted.protocol !== taken.protocol) return false
  return wanted.ip === taken.ip || isWildcard(wanted.ip) || isWildcard(taken.ip)
}

function isWildcard(ip: string): boolean {
  return ip === '' || ip === '0.0.0.0'
}

/** Reduces the download of large images: nodes that have the image score by its size. */
export const imageLocality: Plugin = {
  name: 'ImageLocality',
  weight: 1,
  score: ({ pod, snapshot }) => {
    const wanted = imagesOf(pod.pod)
    const holders = new Map<string, number>()
    for (const node of snapshot.nodes) {
      for (const image of node.node?.status?.images ?? []) {
        for (const name of image.names ?? []) {
          if (wanted.names.includes(name)) holders.set(name, (holders.get(name) ?? 0) + 1)
        }
      }
    }
    if (holders.size === 0) return undefined
    const bytesMin = 23 * 1024 * 1024
    const bytesMax = 1000 * 1024 * 1024 * wanted.containers
    return {
      of: (node) => {
        const sizes = new Map(
          (node.node?.status?.images ?? []).flatMap(({ names, sizeBytes = 0 }) =>
            (names ?? []).map((name) => [name, sizeBytes] as const),
          ),
        )
        const sum = wanted.names.reduce((total, name) => {
          const spread = (holders.get(name) ?? 0) / Math.max(1, snapshot.nodes.length)
          return total + Math.floor((sizes.get(name) ?? 0) * spread)
        }, 0)
        const bounded = Math.min(Math.max(sum, bytesMin), bytesMax)
        return Math.floor((100 * (bounded - bytesMin)) / (bytesMax - bytesMin))
      },
    }
  },
}

/** Image volumes count as well, but do not raise the threshold. */
function imagesOf({ spec }: Pod): { names: string[]; containers: number } {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  const volumes = (spec?.volumes ?? []).flatMap(({ image }) =>
    image?.reference === undefined ? [] : [image.reference],
  )
  const names = [...containers.map((each) => each.image ?? ''), ...volumes].map(normalizedImage)
  return { names, containers: Math.max(1, containers.length) }
}

function normalizedImage(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1)
  return name.includes(':') || name.includes('@') ? image : `${image}:latest`
}
