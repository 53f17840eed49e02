/**
 * bootstrap: gives a control plane its keys and a machine its identity. Certificate authority and
 * files, bootstrap tokens, cluster-info, joining by token and CA hash, renewal. It starts no process
 * and decides nothing about the cluster's objects.
 * Start reading at cluster-pki.ts (the control plane's side), then join-node.ts (the node's).
 */
export { readKnownAuthority } from './known-authority.ts'
export {
  authorityFault,
  ensureAuthority,
  ensureClusterPki,
  type ClusterPki,
  type ClusterPkiOptions,
} from './cluster-pki.ts'
export { ensureEtcdPki, etcdPkiDirectory, etcdPkiPaths } from './etcd-pki.ts'
export {
  issueClientCertificate,
  issueServingCertificate,
  type CertificateAndKey,
} from './issue-certificate.ts'
export {
  inspectCertificateAndKey,
  peekCertificateAndKey,
  writeCertificateAndKey,
  type KeyPairPaths,
} from './key-pair-files.ts'
export {
  ensureDirectory,
  readFileIfPresent,
  secretMode,
  publicMode,
  writeFileDurably,
} from './secure-file.ts'
export { certificateLifetimes } from './limits-table.ts'
export {
  isFresh,
  isWithin,
  renewAtMs,
  type IssuerTime,
  type ValidityPeriod,
} from './certificate-lifetimes.ts'
export { clockFault, clockStart, openTimeFloor, readFloor, type TimeFloor } from './time-floor.ts'
export { bootstrapTokenText, newBootstrapToken, nodeTokenGroup } from './bootstrap-token-secret.ts'
export { clusterInfoConfigMap } from './cluster-info.ts'
export { publishBootstrapToken } from './publish-token.ts'
export { discoverCluster } from './discover-cluster.ts'
export { requestCertificate, type CertificateRequestOptions } from './request-certificate.ts'
export {
  holdCertificate,
  readCertificateInUse,
  type CertificateHolder,
} from './certificate-holder.ts'
export { answerNodeReturn } from './answer-node-return.ts'
export {
  clientKeyAnnotation,
  nodeReturnPath,
  nodeReturnPrefix,
  nodeReturnSuffix,
  type NodeReturn,
} from './node-return.ts'
export { holdServingCertificate, joinNode, type NodeIdentity } from './join-node.ts'
