/** A cluster whose agent fetches its works. */
export function clusterObject(name: string): object {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Pull' },
  }
}

/** The status that an agent reports, as far as the scheduler reads it. */
export function readyStatus(): object {
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'ClusterReady',
    message: 'judged',
    lastTransitionTime: new Date().toISOString(),
  }
  const resources = [{ kind: 'Deployment', name: 'deployments' }]
  const apiEnablements = [{ groupVersion: 'apps/v1', resources }]
  return { status: { conditions: [condition], apiEnablements } }
}

const labels = { app: 'web' }

export const deployment: object = Object.freeze({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  },
})

/** Places the deployment on the named clusters. */
export function policyFor(clusterNames: readonly string[]): object {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
      placement: { clusterAffinity: { clusterNames } },
    },
  }
}
