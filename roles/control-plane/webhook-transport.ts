import type { Clock } from '@skerry/base'
import { createHttpsTransport, type HttpsTransport } from '@skerry/client'
import { readText } from '../runtime/read-config-file.ts'

/** The way to what a kubeconfig names. */
export async function openWebhookTransport(
  path: string,
  { clock }: { readonly clock: Clock },
): Promise<HttpsTransport> {
  // Reading the file first gives a specific error, while loading it would only report that it is missing.
  await readText(path)
  const { loadKubeconfig } = await import('@skerry/client')
  const { transport } = await loadKubeconfig(path, {}, { clock, environment: process.env })
  return createHttpsTransport(transport, { clock })
}
