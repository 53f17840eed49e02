import type { Node, NodeStatus } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { validateNode, validateNodeUpdate } from './node-validation.ts'
import { warningsOfCidr } from '../ip-warnings.ts'

export const nodeStrategy = strategyOf<Node>({
  warnings({ spec = {} }) {
    return [
      ...(spec.configSource ? ['spec.configSource: the feature is removed'] : []),
      ...(spec.externalID
        ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes']
        : []),
      ...(spec.podCIDRs ?? []).flatMap((cidr, at) => warningsOfCidr(cidr, `spec.podCIDRs[${at}]`)),
    ]
  },
  validate: validateNode,
  validateForm: validateNode,
  validateUpdate: validateNodeUpdate,
  validateStatusUpdate: validateNodeUpdate,
  hasGeneration: false,
  defaults: applyNodeDefaults,
  // A kubelet registers itself with its status in one create, so the status is kept.
  prepareForUpdate: statusApart.prepareForUpdate,
  prepareForStatusUpdate: statusApart.prepareForStatusUpdate,
})

function applyNodeDefaults(node: LooseObject<Node>): void {
  const spec = (node.spec ??= {})
  // The first of the list is the old field; if they differ, the old field counts.
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR]
  else if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0]
  const status = (node.status ??= {})
  if (!status.allocatable && status.capacity) status.allocatable = { ...status.capacity }
  applyPresentStructs(status)
}

const noNodeInfo = Object.freeze({
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  containerRuntimeVersion: '',
  kubeletVersion: '',
  kubeProxyVersion: '',
  operatingSystem: '',
  architecture: '',
})

/** Fields that Go clients always send and expect. */
function applyPresentStructs(status: Loose<NodeStatus>): void {
  status.daemonEndpoints ??= {}
  status.daemonEndpoints.kubeletEndpoint ??= { Port: 0 }
  status.nodeInfo = { ...noNodeInfo, ...status.nodeInfo }
}
