import type { Namespace, NetworkPolicy, Pod } from '@skerry/api'
import { peerOf, type PodPeer } from '../policy/pod-peer.ts'

export function namespace(name: string, labels: Record<string, string>): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

export interface PodDraft {
  labels?: Record<string, string>
  /** Maps names to port numbers, TCP. */
  ports?: Record<string, number>
  node?: string
  hostNetwork?: boolean
  phase?: string
}

/** Returns that pod as nodes see it. */
export function peer(path: string, podIP: string, draft: PodDraft = {}): PodPeer {
  return peerOf(pod(path, podIP, draft))
}

/** `path` is namespace/name. */
export function pod(path: string, podIP: string, draft: PodDraft = {}): Pod {
  const ports = Object.entries(draft.ports ?? {})
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...nameOf(path), labels: draft.labels ?? {} },
    spec: {
      nodeName: draft.node ?? 'a',
      hostNetwork: draft.hostNetwork ?? false,
      containers: [
        { name: 'main', ports: ports.map(([name, containerPort]) => ({ name, containerPort })) },
      ],
    },
    status: { podIP, phase: draft.phase ?? 'Running' },
  }
}

/** `path` is namespace/name. */
export function policy(path: string, spec: NetworkPolicy['spec']): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: nameOf(path),
    spec,
  }
}

function nameOf(path: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = path.split('/')
  return { namespace, name }
}
