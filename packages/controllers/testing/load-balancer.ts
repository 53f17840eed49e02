import type { Service } from '@skerry/api'

/** A service of type LoadBalancer with port 80. */
export const balancer = (name: string, spec: Service['spec'] = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: {
    type: 'LoadBalancer',
    allocateLoadBalancerNodePorts: false,
    ports: [{ name: 'http', port: 80 }],
    ...spec,
  },
})
