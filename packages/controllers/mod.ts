/**
 * controllers: those of kube-controller-manager, one folder each. In every folder a pure plan decides,
 * and a controller reads the cluster's state, calls the plan, and executes it.
 * They use only the API, through client, so they also run against upstream Kubernetes.
 * Start reading at controllers-table.ts, then replicaset/.
 */
export { runControllers } from './run-controllers.ts'
export { namedControllers } from './controllers-table.ts'
export { bootstrapSignerController } from './bootstrap/bootstrap-signer.ts'
export { tokenCleanerController } from './bootstrap/token-cleaner.ts'
export { csrCleanerController } from './certificates/csr-cleaner-controller.ts'
export { garbageCollector } from './garbage-collector/garbage-collector.ts'
export { createNamespaceController } from './namespace/namespace-controller.ts'
export { serviceAccountController } from './serviceaccount/service-account-controller.ts'
export { csrSigningController } from './certificates/csr-signing-controller.ts'
export { handedOverTaint } from './nodes/handed-over.ts'
export { createNodeLifecycleController } from './nodes/node-lifecycle-controller.ts'
export { nodeIpamController } from './nodes/node-ipam.ts'
export { clusterTrustBundlePublisher } from './root-ca/cluster-trust-bundle-publisher.ts'
export { rootCaPublisher } from './root-ca/root-ca-publisher.ts'
export { serviceLbController } from './service-lb/service-lb-controller.ts'
export { serviceAccountTokenController } from './serviceaccount/service-account-token-controller.ts'
