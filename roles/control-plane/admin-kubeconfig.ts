import { readFile, stat } from 'node:fs/promises'
import { diskFullError, isDiskFull } from '@skerry/base'
import type { ClusterPki } from '@skerry/bootstrap'
import { formatKubeconfig, writeKubeconfig, type Kubeconfig } from '@skerry/client'
import { codeOf } from '../runtime/data-directory.ts'
import { clientKubeconfig } from '../runtime/kubeconfig-file.ts'

export interface AdminFile {
  path: string
  /** The name of the context. */
  name: string
  /** The URL https://host:port at which this machine reaches it. */
  server: string
}

/**
 * Writes the kubeconfig of this control plane's administrator on its own machine. A correct file stays, so a
 * start on a full disk needs no space for it. Throws ExpectedError if there is no space.
 */
export async function writeAdminKubeconfig(
  pki: ClusterPki,
  { path, name, server }: AdminFile,
): Promise<void> {
  const { admin, authority } = pki
  const config = clientKubeconfig([{ name, server }], {
    caPem: authority.certificatePem,
    certificatePem: admin.certificatePem,
    keyPem: admin.privateKeyPem,
    user: `${name}-admin`,
  })
  try {
    if (!(await isThere(path, config))) await writeKubeconfig(path, config)
  } catch (error) {
    if (isDiskFull(error)) throw diskFullError(`write ${path}`, error)
    throw error
  }
}

async function isThere(path: string, config: Kubeconfig): Promise<boolean> {
  try {
    const { mode } = await stat(path)
    return (mode & 0o077) === 0 && (await readFile(path, 'utf8')) === formatKubeconfig(config)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
