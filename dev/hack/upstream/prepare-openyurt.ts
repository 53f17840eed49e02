import { resources, type ClusterClient } from '@skerry/client'

const webhooks = 'admissionregistration.k8s.io/v1'
const rbac = 'rbac.authorization.k8s.io'

/**
 * Makes what the chart of yurt-manager makes, without its webhooks: the stories compare controllers. Each of its
 * controllers acts by a service account of its own, and all of them get all rights.
 */
export async function prepareOpenyurt(cluster: ClusterClient, signal: AbortSignal): Promise<void> {
  const certificates = { name: 'yurt-manager-webhook-certs', namespace: 'kube-system' }
  await cluster
    .resource(resources.secrets)
    .create({ apiVersion: 'v1', kind: 'Secret', metadata: certificates }, signal)
  await cluster.resource(resources.mutatingWebhookConfigurations).create(
    {
      apiVersion: webhooks,
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'yurt-manager-mutating-webhook-configuration' },
    },
    signal,
  )
  await cluster.resource(resources.validatingWebhookConfigurations).create(
    {
      apiVersion: webhooks,
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'yurt-manager-validating-webhook-configuration' },
    },
    signal,
  )
  await cluster.resource(resources.clusterRoleBindings).create(
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'yurt-manager' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: 'system:serviceaccounts:kube-system' }],
    },
    signal,
  )
}
