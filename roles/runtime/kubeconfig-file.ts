import { writeKubeconfig, type Kubeconfig } from '@skerry/client'

export interface KubeconfigContext {
  /** Names the context and its cluster. */
  name: string
  server: string
}

export interface KubeconfigIdentity {
  caPem: string
  certificatePem: string
  keyPem: string
  user: string
}

/** Writes one user and one context per server; the first is current. */
export async function writeClientKubeconfig(
  path: string,
  contexts: readonly KubeconfigContext[],
  identity: KubeconfigIdentity,
): Promise<void> {
  await writeKubeconfig(path, clientKubeconfig(contexts, identity))
}

export function clientKubeconfig(
  contexts: readonly KubeconfigContext[],
  identity: KubeconfigIdentity,
): Kubeconfig {
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: contexts.map(({ name, server }) => ({
      name,
      cluster: { server, 'certificate-authority-data': base64(identity.caPem) },
    })),
    users: [
      {
        name: identity.user,
        user: {
          'client-certificate-data': base64(identity.certificatePem),
          'client-key-data': base64(identity.keyPem),
        },
      },
    ],
    contexts: contexts.map(({ name }) => ({
      name,
      context: { cluster: name, user: identity.user },
    })),
    'current-context': contexts[0]?.name ?? '',
  }
}
