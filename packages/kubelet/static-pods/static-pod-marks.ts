import type { Pod } from '@skerry/api'

/** Marks of pods that come from manifest files, in upstream's words. */
export const staticAnnotations = Object.freeze({
  hash: 'kubernetes.io/config.hash',
  source: 'kubernetes.io/config.source',
  seen: 'kubernetes.io/config.seen',
  mirror: 'kubernetes.io/config.mirror',
})

export function isStatic(pod: Pod): boolean {
  return pod.metadata.annotations?.[staticAnnotations.source] === 'file' && !isMirror(pod)
}

/** The picture of a static pod in the API: shown there, never run. */
export function isMirror(pod: Pod): boolean {
  return pod.metadata.annotations?.[staticAnnotations.mirror] !== undefined
}

/** Returns the pod to create in the API, so that users see the static pod there. */
export function mirrorOf(pod: Pod, node: { name: string; uid: string } | undefined): Pod {
  const { uid: _uid, annotations, ...metadata } = pod.metadata
  const hash = annotations?.[staticAnnotations.hash] ?? ''
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      annotations: { ...annotations, [staticAnnotations.mirror]: hash },
      ...(node
        ? {
            ownerReferences: [
              { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true },
            ],
          }
        : {}),
    },
    ...(pod.spec ? { spec: pod.spec } : {}),
  }
}
