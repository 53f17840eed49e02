import { systemClock } from '@skerry/base'
import { createHttpsTransport, loadKubeconfig, type HttpsTransport } from '@skerry/client'
import { readText } from '../runtime/read-config-file.ts'

/** The way to what a kubeconfig names. */
export async function openWebhookTransport(path: string): Promise<HttpsTransport> {
  // Says what is wrong with the file, where loading it would say only that it is not there.
  await readText(path)
  const { transport } = await loadKubeconfig(
    path,
    {},
    { clock: systemClock, environment: process.env },
  )
  return createHttpsTransport(transport)
}
