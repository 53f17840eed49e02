import type { Pod, PodSpec } from '@skerry/api'
import { isNodeEvent } from '../framework/cluster-event.ts'
import { refuseForGood, type Plugin } from '../framework/plugin.ts'

/**
 * Features that a pod may need of its node from its first start on, as Kubernetes 1.36 knows them
 * (KEP-5328). Others are needed only to change a running pod, which no node is chosen by.
 */
const neededBy: Readonly<Record<string, (spec: PodSpec) => boolean>> = Object.freeze({
  RestartAllContainersOnContainerExits: (spec: PodSpec) =>
    [...spec.containers, ...(spec.initContainers ?? [])].some(({ restartPolicyRules = [] }) =>
      restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
    ),
  UserNamespacesHostNetworkSupport: ({ hostNetwork, hostUsers }: PodSpec) =>
    hostNetwork === true && hostUsers === false,
})

/** Pods whose features are needed go to nodes that declare them. */
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
  // Another node's features count, even where they are not those that this pod needs.
  isHelpedBy: (event) => isNodeEvent(event, 'features'),
}

function featuresNeeded({ spec }: Pod): string[] {
  if (spec === undefined) return []
  return Object.keys(neededBy).filter((name) => neededBy[name]?.(spec) === true)
}
