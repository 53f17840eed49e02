import type { Plugin } from './framework/plugin.ts'
import { dynamicResources } from './plugins/dynamic-resources.ts'
import { interPodAffinity } from './plugins/inter-pod-affinity.ts'
import { nodeDeclaredFeatures } from './plugins/node-declared-features.ts'
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
import { nodeVolumeLimits, volumeZone } from './plugins/volume-limits.ts'
import { volumeBinding } from './plugins/volume-plugins.ts'
import { volumeRestrictions } from './plugins/volume-restrictions.ts'
import type { Profile } from './profile.ts'

/** The default spec.schedulerName of our pods; a configuration may set others. */
const schedulerName = 'default-scheduler'

/** Upstream's default profile, in its order: the first refusal of a node is the one reported. */
export const defaultPlugins: readonly Plugin[] = Object.freeze([
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity(),
  nodePorts,
  nodeResourcesFit(),
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread(),
  interPodAffinity(),
  dynamicResources,
  nodeResourcesBalancedAllocation(),
  imageLocality,
  nodeDeclaredFeatures,
])

export const defaultProfile: Profile = Object.freeze({
  schedulerName,
  filters: defaultPlugins,
  scores: defaultPlugins.map((plugin) => ({ plugin, weight: plugin.weight ?? 1 })),
  deallocates: true,
  preempts: true,
  percentageOfNodesToScore: 0,
})
