import type { Plugin } from './plugin.ts'
import { interPodAffinity } from './plugins/inter-pod-affinity.ts'
import {
  imageLocality,
  nodeAffinity,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  taintToleration,
} from './plugins/node-plugins.ts'
import { podTopologySpread } from './plugins/pod-topology-spread.ts'
import { nodeResourcesBalancedAllocation, nodeResourcesFit } from './plugins/resource-plugins.ts'
import { volumeBinding, volumeRestrictions } from './plugins/volume-plugins.ts'

/** Upstream's default profile, in its order: the first refusal of a node is the one that is told. */
export const defaultPlugins: readonly Plugin[] = Object.freeze([
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  volumeBinding,
  podTopologySpread,
  interPodAffinity,
  nodeResourcesBalancedAllocation,
  imageLocality,
])
