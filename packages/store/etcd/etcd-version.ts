/**
 * Returns true if a member's answer to a progress request comes after the changes it covers. Older
 * members may send it too early (etcd issue 15220; the versions are those that kube-apiserver
 * trusts).
 */
export function canTellProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number)
  if (major !== 3) return major > 3
  if (minor === 4) return patch >= 31
  if (minor === 5) return patch >= 13
  return minor > 5
}
