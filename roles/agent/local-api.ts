import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import { tokenFileCredentials, type HttpsTransportConfig } from '@skerry/client'

/** The directory of every pod's own credentials. */
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Returns the API server of the agent's cluster: by kubeconfig, or the one in which the agent is a pod. */
export async function findLocalApi(options: {
  kubeconfig: string | undefined
  context: string | undefined
}): Promise<HttpsTransportConfig> {
  const { kubeconfig, context } = options
  if (kubeconfig !== undefined) {
    // An agent in a pod needs neither YAML nor its checks.
    const { loadKubeconfig } = await import('@skerry/client')
    const environment = { clock: systemClock, environment: process.env }
    const chosen = context === undefined ? {} : { context }
    return (await loadKubeconfig(kubeconfig, chosen, environment)).transport
  }
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env
  if (host === undefined) {
    throw new ExpectedError(
      'Cannot find the cluster: this is not a pod; pass --kubeconfig',
      exitCodes.usage,
    )
  }
  const address = host.includes(':') ? `[${host}]` : host
  return {
    server: `https://${address}:${port}`,
    certificateAuthority: await readFile(join(serviceAccountDirectory, 'ca.crt'), 'utf8'),
    credentials: tokenFileCredentials(join(serviceAccountDirectory, 'token'), systemClock),
  }
}
