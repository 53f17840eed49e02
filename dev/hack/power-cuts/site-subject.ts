import { join } from 'node:path'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { until } from '@skerry/testing'
import { AcknowledgedWrites, type KeyWrite } from './acknowledged-writes.ts'
import { isReady, openSiteApi, type SiteApi } from './api-of-site.ts'
import { digestOf, plannedWrites, writersCount } from './planned-writes.ts'
import { skerry } from './program-files.ts'
import type { Life, LifePlan, Subject, SubjectDeps, SubjectKind } from './subject.ts'

const port = 6_443
const namespace = 'default'
const startMsMax = 900_000

export const siteKind: SubjectKind = {
  title: 'a whole site',
  ports: [port],
  memoryMegabytes: 768,
  writesMax: 120,
  lifeMsMax: 40_000,
  open: async (deps) => new SiteSubject(deps),
}

/** `skerry site` in the machine; its clients are on the host. */
class SiteSubject implements Subject {
  readonly #writes = new AcknowledgedWrites()
  readonly #deps: SubjectDeps
  /** From the first start: a later one must accept the same credentials. */
  #api: SiteApi | undefined

  constructor(deps: SubjectDeps) {
    this.#deps = deps
  }

  get acknowledged(): number {
    return this.#writes.count
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#api?.[Symbol.dispose]()
  }

  async live({ seed, boot, signal }: LifePlan): Promise<Life> {
    const { machine } = this.#deps
    const startMs = performance.now()
    const damages: string[] = []
    const command = `exec ${skerry} site --data-dir /var/lib/skerry/site --port ${port}`
    const running = machine.run(command, {
      timeoutMs: 3_600_000,
      onLine: (line) => void (/damaged/i.test(line) && damages.push(line)),
    })
    const siteEnded = running.then((text) => {
      throw new Error(`skerry site ended: ${text.slice(-500)}`)
    })
    const api = await Promise.race([siteEnded, this.#untilReady(signal)])
    const startedMs = performance.now() - startMs
    const { found, revision } = await contentsOf(api.cluster, signal)
    const problems = [...damages, ...this.#writes.check(found, revision)]
    const writers = Array.from({ length: writersCount }, (_, writer) =>
      this.#writeOn(api.cluster, { seed, boot, signal, writer }),
    )
    const seconds = (startedMs / 1_000).toFixed(1)
    return {
      problems,
      notes: `ready after ${seconds} s, ${found.size} objects`,
      parts: [siteEnded, ...writers],
    }
  }

  async #untilReady(cut: AbortSignal): Promise<SiteApi> {
    const { machine, directory } = this.#deps
    const signal = AbortSignal.any([cut, AbortSignal.timeout(startMsMax)])
    if (this.#api === undefined) {
      const read = 'cat /var/lib/skerry/site/admin.kubeconfig'
      const text = await until(() => machine.run(read).catch(() => ''), signal)
      const path = join(directory, 'site.kubeconfig')
      this.#api = await openSiteApi(text, path, machine.hostPort(port))
    }
    const api = this.#api
    await until(() => isReady(api, signal), signal)
    return api
  }

  async #writeOn(cluster: ClusterClient, plan: LifePlan & { writer: number }): Promise<void> {
    // The API has no writes of several objects.
    for (const [{ key, content } = { key: '' }] of plannedWrites(plan)) {
      const name = key.slice(1).replaceAll('/', '-')
      const known: KeyWrite[] = [
        { key: name, ...(content === undefined ? {} : { content: digestOf(content) }) },
      ]
      this.#writes.begin(known)
      const revision = await put(cluster, { key: name, content }, plan.signal)
      this.#writes.acknowledge(known, revision)
    }
  }
}

async function put(
  cluster: ClusterClient,
  { key: name, content }: { key: string; content: string | undefined },
  signal: AbortSignal,
): Promise<number> {
  const configMaps = cluster.resource(resources.configMaps)
  if (content === undefined) {
    await ifThere(configMaps.delete({ namespace, name }, signal))
    return 0
  }
  const patch = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { content } }
  const { metadata } = await configMaps.patch(
    { namespace, name, type: 'apply', patch, force: true, fieldManager: 'power-cuts' },
    signal,
  )
  return Number(metadata.resourceVersion)
}

async function contentsOf(cluster: ClusterClient, signal: AbortSignal) {
  const list = await cluster.resource(resources.configMaps).list({ namespace }, signal)
  const found = new Map(
    list.items
      .filter(({ metadata }) => metadata.name?.startsWith('cut-'))
      .map(({ metadata, data }) => [metadata.name ?? '', digestOf(data?.['content'] ?? '')]),
  )
  return { found, revision: Number(list.metadata.resourceVersion) }
}
