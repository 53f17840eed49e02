import type { ClusterPki } from '@skerry/bootstrap'
import { writeClientKubeconfig } from './kubeconfig-file.ts'

export interface AdminFile {
  path: string
  /** Of the context. */
  name: string
  /** https://host:port, as this machine reaches it. */
  server: string
}

/** For whoever administers this control plane on its own machine. */
export async function writeAdminKubeconfig(
  pki: ClusterPki,
  { path, name, server }: AdminFile,
): Promise<void> {
  const { admin, authority } = pki
  await writeClientKubeconfig(path, [{ name, server }], {
    caPem: authority.certificatePem,
    certificatePem: admin.certificatePem,
    keyPem: admin.privateKeyPem,
    user: `${name}-admin`,
  })
}
