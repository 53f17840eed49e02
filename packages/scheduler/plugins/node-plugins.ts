import { toleratesTaint, type Taint } from '@skerry/api'
import { normalizeByMax, refuse, refuseForGood, type Plugin } from '../plugin.ts'
import type { HostPort } from '../pod-info.ts'
import { matchesAnyTerm, matchesTerm } from './node-selector-terms.ts'

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
}

export const taintToleration: Plugin = {
  name: 'TaintToleration',
  weight: 3,
  filter: ({ pod }) => {
    const tolerations = pod.pod.spec?.tolerations ?? []
    return (node) => {
      const taint = (node.node?.spec?.taints ?? []).find(
        (each) =>
          (each.effect === 'NoSchedule' || each.effect === 'NoExecute') &&
          !tolerations.some((toleration) => toleratesTaint(toleration, each)),
      )
      if (taint === undefined) return undefined
      return refuseForGood(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`)
    }
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
}

export const nodeAffinity: Plugin = {
  name: 'NodeAffinity',
  weight: 2,
  filter: ({ pod }) => {
    const selector = Object.entries(pod.pod.spec?.nodeSelector ?? {})
    const terms =
      pod.pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
        ?.nodeSelectorTerms
    if (selector.length === 0 && terms === undefined) return undefined
    return (node) => {
      const isSelected = selector.every(([key, value]) => node.labels[key] === value)
      if (isSelected && (terms === undefined || matchesAnyTerm(node, terms))) return undefined
      return refuseForGood("node(s) didn't match Pod's node affinity/selector")
    }
  },
  score: ({ pod }) => {
    const preferred =
      pod.pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    if (preferred.length === 0) return undefined
    return {
      of: (node) =>
        preferred.reduce(
          (sum, each) => sum + (matchesTerm(node, each.preference) ? each.weight : 0),
          0,
        ),
      normalize: normalizeByMax(false),
    }
  },
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
}

function collides(wanted: HostPort, taken: HostPort): boolean {
  if (wanted.port !== taken.port || wanted.protocol !== taken.protocol) return false
  return wanted.ip === taken.ip || isWildcard(wanted.ip) || isWildcard(taken.ip)
}

function isWildcard(ip: string): boolean {
  return ip === '' || ip === '0.0.0.0'
}

/** Spreads large images' start cost: nodes that have the image score by its size. */
export const imageLocality: Plugin = {
  name: 'ImageLocality',
  weight: 1,
  score: ({ pod, snapshot }) => {
    const wanted = (pod.pod.spec?.containers ?? []).map((each) => normalizedImage(each.image ?? ''))
    const holders = new Map<string, number>()
    for (const node of snapshot.nodes) {
      for (const image of node.node?.status?.images ?? []) {
        for (const name of image.names ?? []) holders.set(name, (holders.get(name) ?? 0) + 1)
      }
    }
    const bytesMin = 23 * 1024 * 1024
    const bytesMax = 1000 * 1024 * 1024 * wanted.length
    return {
      of: (node) => {
        let sum = 0
        for (const image of node.node?.status?.images ?? []) {
          const name = (image.names ?? []).find((each) => wanted.includes(each))
          if (name === undefined) continue
          const spread = (holders.get(name) ?? 0) / Math.max(1, snapshot.nodes.length)
          sum += Math.floor((image.sizeBytes ?? 0) * spread)
        }
        const bounded = Math.min(Math.max(sum, bytesMin), bytesMax)
        return Math.floor((100 * (bounded - bytesMin)) / (bytesMax - bytesMin))
      },
    }
  },
}

function normalizedImage(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1)
  return name.includes(':') || name.includes('@') ? image : `${image}:latest`
}
