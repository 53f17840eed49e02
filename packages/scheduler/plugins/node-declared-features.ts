import type { Pod, PodSpec } from '@skerry/api'
import { isNodeEvent } from '../framework/cluster-event.ts'
import { refuseForGood, type Plugin } from '../framework/plugin.ts'

/**
 * The features that a pod may need of its node from its first start, according to Kubernetes 1.36
 * (KEP-5328). Others are needed only to change a running pod, and do not affect the choice of a
 * node.
 */
const neededBy: Readonly<Record<string, (spec: PodSpec) => boolean>> = Object.freeze({
  RestartAllContainersOnContainerExits: (spec: PodSpec) =>
    [...spec.containers, ...(spec.initContainers ?? [])].some(({ restartPolicyRules = [] }) =>
      restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
    ),
  UserNamespacesHostNetworkSupport: ({ hostNetwork, hostUsers }: PodSpec) =>
    hostNetwork === true && hostUsers === false,
})

/** Places pods that need features on nodes that declare them. */
export const nodeDeclaredFeatures: Plugin = {
  name: 'NodeDeclaredFeatures',
  filter: ({ pod }) => {
    const needed = featuresNeeded(pod.pod)
    if (needed.length === 0) return undefined
    return (node) => {
      const declared = node.node?.status?.declaredFeatures ?? []
      return needed.every((each) => declared.includes(each))
        ? undefined
        : refuseForGood("node(s) didn't match Pod's required features")
    }
  },
  // Any change of a node's features counts, even if this pod does not need them.
  isHelpedBy: (event) => isNodeEvent(event, 'features'),
}

function featuresNeeded({ spec }: Pod): string[] {
  if (spec === undefined) return []
  return Object.keys(neededBy).filter((name) => neededBy[name]?.(spec) === true)
}
