import type { ClusterPki } from '@skerry/bootstrap'
import { writeClientKubeconfig } from './kubeconfig-file.ts'

/** For whoever administers this control plane on its own machine. */
export async function writeAdminKubeconfig(
  pki: ClusterPki,
  { path, name, port }: { path: string; name: string; port: number },
): Promise<void> {
  const { admin, authority } = pki
  await writeClientKubeconfig(path, [{ name, server: `https://127.0.0.1:${port}` }], {
    caPem: authority.certificatePem,
    certificatePem: admin.certificatePem,
    keyPem: admin.privateKeyPem,
    user: `${name}-admin`,
  })
}
