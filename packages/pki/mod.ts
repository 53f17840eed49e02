/**
 * pki: X.509 and keys. Creates and reads keys, certificates and signing requests. It knows no
 * Kubernetes term, reads no clock and touches no file.
 * Start reading at authority.ts (signing), then certificate.ts (reading).
 */
export { generateKeyPair, keyId, publicKeyOf } from './key-pair.ts'
export {
  createAuthority,
  redateAuthority,
  signCertificate,
  type Authority,
  type Subject,
} from './authority.ts'
export { createSigningRequest } from './create-signing-request.ts'
export {
  readSigningRequest,
  readSigningRequestProof,
  type SigningRequest,
  type SigningRequestProof,
} from './signing-request.ts'
export { detachedSignature } from './detached-signature.ts'
export { signText } from './key-signature.ts'
export { readFormerCertificate, readNextRequest, type FormerKeyRules } from './former-key.ts'
export { isSigningKey } from './signing-key.ts'
export { readCertificate, type Certificate } from './certificate.ts'
export { readClientCertificate, type ClientCertificate } from './client-certificate.ts'
export {
  carriesNames,
  decodePem,
  fingerprintOf,
  isIssuedBy,
  spkiHash,
  validityOf,
} from './certificate-checks.ts'
export { type KeyUsage } from './usages.ts'
export { mayJoinAs, nodeNameGroup } from './token-of-node.ts'
export {
  audiencesOf,
  readNodeToken,
  signNodeToken,
  standInToken,
  type NodeToken,
} from './node-token.ts'
