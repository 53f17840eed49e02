import {
  addLists,
  compareQuantities,
  parseQuantity,
  podResources,
  quantityToMilli,
  quantityToNumber,
  type Node,
  type PodSpec,
} from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import { boundPodChange, requireNode } from './bound-pod-change.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

/** Refuses a resize at once that the pod's node could never grant. */
export function createPodResizeValidator({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'PodResizeValidator',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.pods) && subresource === 'resize' && operation === 'UPDATE',
    async validate(request) {
      const change = boundPodChange(request)
      if (!change) return
      const node = requireNode(request, objects, change.nodeName)
      const system = node.metadata.labels?.['kubernetes.io/os'] ?? 'linux'
      if (system !== 'linux') {
        const [name, found] = [JSON.stringify(change.nodeName), JSON.stringify(system)]
        const why = `pod resize is only supported on linux nodes, node ${name} is ${found}`
        throw refuse(request, why, [{ reason: 'UnsupportedPlatform' }])
      }
      const lacking = lackingResources(change.spec, node)
      if (lacking.length === 0) return
      const why = `node didn't have enough allocatable resources: ${lacking.join('; ')}`
      throw refuse(request, why, [{ reason: 'NodeCapacity' }])
    },
  }
}

/** CPU in thousandths, memory in bytes. */
const shown = Object.freeze({ cpu: quantityToMilli, memory: quantityToNumber })

function lackingResources(spec: PodSpec, { status = {} }: Node): string[] {
  const requests = addLists(podResources(spec, 'requests'), spec.overhead ?? {})
  return (['cpu', 'memory'] as const).flatMap((name) => {
    const requested = parseQuantity(requests[name] ?? '0')
    const allocatable = parseQuantity(status.allocatable?.[name] ?? '0')
    if (compareQuantities(requested, allocatable) <= 0) return []
    const show = shown[name]
    return `${name}, requested: ${show(requested)}, allocatable: ${show(allocatable)}`
  })
}
