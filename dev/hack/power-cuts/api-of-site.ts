import { writeFile } from 'node:fs/promises'
import { silentLogger, systemClock } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  type ClusterClient,
} from '@skerry/client'

/** The API of a site, seen by its administrator. */
export interface SiteApi extends Disposable {
  readonly cluster: ClusterClient
}

/** Opens the API at a port of loopback, with the text of the administrator's kubeconfig, which is stored at the path. */
export async function openSiteApi(text: string, path: string, port: number): Promise<SiteApi> {
  const moved = text.replace(/server: .*/, `server: https://127.0.0.1:${port}`)
  await writeFile(path, moved, { mode: 0o600 })
  const deps = { clock: systemClock, environment: {} }
  const { transport } = await loadKubeconfig(path, {}, deps)
  const sender = createHttpsTransport(transport, { clock: systemClock })
  const cluster = createCluster(sender, {
    log: silentLogger,
    clock: systemClock,
    userAgent: 'skerry/power-cuts',
  })
  return { cluster, [Symbol.dispose]: () => sender[Symbol.dispose]() }
}

/** Reports whether the API says that it is ready. */
export async function isReady({ cluster }: SiteApi, signal: AbortSignal): Promise<boolean> {
  try {
    const request = { method: 'GET', path: '/readyz', headers: {} } as const
    const { status, body } = await cluster.raw(request, signal)
    for await (const _ of body);
    return status === 200
  } catch {
    // It does not listen yet, or has gone.
    signal.throwIfAborted()
    return false
  }
}
