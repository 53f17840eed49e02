import { isDeepStrictEqual } from 'node:util'
import type { PodSpec } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import { boundPodChange, requireNode } from './bound-pod-change.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

/**
 * The features that a node must declare before its running pods may change in this way, sorted
 * (KEP-5328).
 */
const features: Readonly<Record<string, (next: PodSpec, old: PodSpec) => boolean>> = Object.freeze({
  InPlacePodLevelResourcesVerticalScaling: (next, old) =>
    !isDeepStrictEqual(next.resources, old.resources),
  InPlacePodVerticalScalingInitContainers: (next, old) =>
    (old.initContainers ?? []).some(
      ({ restartPolicy, resources }, at) =>
        restartPolicy !== 'Always' &&
        !isDeepStrictEqual(resources ?? {}, next.initContainers?.[at]?.resources ?? {}),
    ),
})

/** Refuses changes of a running pod that its node does not declare support for. */
export function createNodeDeclaredFeatureValidator({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'NodeDeclaredFeatureValidator',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.pods) &&
      (subresource === '' || subresource === 'resize') &&
      operation === 'UPDATE',
    async validate(request) {
      const change = boundPodChange(request)
      if (!change) return
      const needed = Object.keys(features).filter((name) =>
        features[name]?.(change.spec, change.old),
      )
      if (needed.length === 0) return
      const { status = {} } = requireNode(request, objects, change.nodeName)
      const missing = needed.filter((name) => !status.declaredFeatures?.includes(name))
      if (missing.length === 0) return
      throw refuse(
        request,
        `pod update requires features ${missing.join(', ')} which are not available on node ${JSON.stringify(change.nodeName)}`,
      )
    },
  }
}
