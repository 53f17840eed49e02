/** Kubernetes' own labels that a kubelet sets on its node. */
const kubeletLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
])

/** Reports whether a node may not set a label itself: it would attract other users' pods. */
export function isReservedNodeLabel(key: string): boolean {
  const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : ''
  if (isWithin(prefix, 'node-restriction.kubernetes.io')) return true
  if (!isWithin(prefix, 'kubernetes.io') && !isWithin(prefix, 'k8s.io')) return false
  const isKubelets =
    kubeletLabels.has(key) ||
    isWithin(prefix, 'kubelet.kubernetes.io') ||
    isWithin(prefix, 'node.kubernetes.io')
  return !isKubelets
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`)
}
