/** Kubernetes' labels on containers and sandboxes, which other tools on the node read, too. */
export const runtimeLabels = Object.freeze({
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
})

export const runtimeAnnotations = Object.freeze({
  containerHash: 'io.kubernetes.container.hash',
  /** The JSON of ComputeResources. */
  resources: 'skerry.io/resources',
  restartCount: 'io.kubernetes.container.restartCount',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  /** The boot in which a sandbox was made: in another one it is dead. */
  bootId: 'skerry.io/boot-id',
  hostNetwork: 'skerry.io/host-network',
})
