import { createHash, createPublicKey } from 'node:crypto'

/** Formats `sha256:<hex>` over the SubjectPublicKeyInfo, as kubeadm does for an authority's key. */
export function keyFingerprint(publicKeyPem: string): string {
  const der = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(der).digest('hex')}`
}
