import { join } from 'node:path'
import { peekCertificateAndKey } from '@skerry/bootstrap'
import { readFile } from 'node:fs/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import {
  writeClientKubeconfig,
  type KubeconfigContext,
  type KubeconfigIdentity,
} from '../runtime/kubeconfig-file.ts'
import type { Installation, UpSettings } from './installation.ts'

/** The contexts of an installation: the hub, and its cluster through the hub. */
export function contextsOf({ clusterName, hubPort }: UpSettings): KubeconfigContext[] {
  const hub = `https://127.0.0.1:${hubPort}`
  return [
    { name: clusterName, server: `${hub}/clusters/${clusterName}` },
    { name: 'hub', server: hub },
  ]
}

/** Returns the identity of the hub's administrator, who is the person at this machine. */
export async function hubIdentity(installation: Installation): Promise<KubeconfigIdentity> {
  const pki = join(installation.hubDir, 'pki')
  const admin = await peekCertificateAndKey({
    certificatePath: join(pki, 'admin.crt'),
    keyPath: join(pki, 'admin.key'),
  })
  if (admin === undefined) {
    throw new ExpectedError(
      `Cannot write kubeconfig: ${pki} has no administrator; start with "skerry up"`,
      exitCodes.dataDirectory,
    )
  }
  return {
    caPem: await readFile(join(pki, 'ca.crt'), 'utf8'),
    certificatePem: admin.certificatePem,
    keyPem: admin.privateKeyPem,
    user: 'hub-admin',
  }
}

export async function writeUserKubeconfig(
  installation: Installation,
  settings: UpSettings,
): Promise<void> {
  await writeClientKubeconfig(
    installation.kubeconfig,
    contextsOf(settings),
    await hubIdentity(installation),
  )
}
