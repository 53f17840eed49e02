import type { AnyObject } from '@skerry/api'

/**
 * The policy that joining by bootstrap token needs in addition to upstream's, with kubeadm's shapes
 * and names: new nodes may request certificates, which are approved, and anyone may read
 * cluster-info, which carries a signature and no secret.
 */
export const nodeGroupObjects: readonly AnyObject[] = [
  clusterBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', [
    group('system:bootstrappers:kubeadm:default-node-token'),
  ]),
  clusterBinding(
    'kubeadm:node-autoapprove-bootstrap',
    'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    [group('system:bootstrappers:kubeadm:default-node-token')],
  ),
  clusterBinding(
    'kubeadm:node-autoapprove-certificate-rotation',
    'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    [group('system:nodes')],
  ),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'kubeadm:bootstrap-signer-clusterinfo', namespace: 'kube-public' },
    rules: [
      {
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['cluster-info'],
        verbs: ['get'],
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'kubeadm:bootstrap-signer-clusterinfo', namespace: 'kube-public' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Role',
      name: 'kubeadm:bootstrap-signer-clusterinfo',
    },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:anonymous' }],
  },
  // The API server's own certificate for requests to kubelets.
  clusterBinding('skerry:apiserver-kubelet-client', 'system:kubelet-api-admin', [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'kube-apiserver-kubelet-client' },
  ]),
]

function group(name: string): object {
  return { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name }
}

function clusterBinding(name: string, role: string, subjects: object[]): AnyObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects,
  }
}
