import { join } from 'node:path'
import { EtcdClient } from '../../../packages/etcd-server/testing/etcd-client.ts'
import { guestAddress } from '../virtual-machines/quick-image.ts'
import { AcknowledgedWrites, type KeyWrite } from './acknowledged-writes.ts'
import { digestOf, plannedWrites, writersCount } from './planned-writes.ts'
import { etcdFiles, holding, skerry } from './program-files.ts'
import type { Life, LifePlan, Subject, SubjectDeps, SubjectKind } from './subject.ts'

const port = 2_379

const command = [
  `HOLD_AHEAD=run-etcd- ${holding} ${skerry} etcd --data-dir /var/lib/skerry/etcd`,
  `--listen-client-urls https://${guestAddress}:${port}`,
  `--cert-file ${join(etcdFiles, 'cert.pem')} --key-file ${join(etcdFiles, 'key.pem')}`,
  `--trusted-ca-file ${join(etcdFiles, 'ca.pem')}`,
].join(' ')

export const etcdKind: SubjectKind = {
  title: 'skerry etcd',
  ports: [port],
  memoryMegabytes: 512,
  held: command,
  writesMax: 400,
  lifeMsMax: 30_000,
  open: async (deps) => new EtcdSubject(deps),
}

/** `skerry etcd` in the machine; its clients are on the host. */
class EtcdSubject implements Subject {
  readonly #writes = new AcknowledgedWrites()
  readonly #deps: SubjectDeps

  constructor(deps: SubjectDeps) {
    this.#deps = deps
  }

  get acknowledged(): number {
    return this.#writes.count
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async live({ seed, boot, signal }: LifePlan): Promise<Life> {
    const { machine, identity } = this.#deps
    const startMs = performance.now()
    const serving = Promise.withResolvers<void>()
    const running = machine.release('', {
      timeoutMs: 3_600_000,
      onLine: (line) => line.includes('etcd serves') && serving.resolve(),
    })
    const serverEnded = running.then((text) => {
      throw new Error(`skerry etcd ended: ${text.slice(-500)}`)
    })
    serverEnded.catch((error: unknown) => serving.reject(error))
    await serving.promise
    const startedMs = performance.now() - startMs
    const client = new EtcdClient(`https://127.0.0.1:${machine.hostPort(port)}`, { ...identity })
    const { found, revision } = await contentsOf(client)
    const problems = this.#writes.check(found, revision)
    const writers = Array.from({ length: writersCount }, (_, writer) =>
      this.#writeOn(client, { seed, boot, signal, writer }),
    )
    const parts = [serverEnded, ...writers]
    void Promise.allSettled(parts).then(() => client[Symbol.dispose]())
    const seconds = (startedMs / 1_000).toFixed(1)
    return { problems, notes: `serves after ${seconds} s, ${found.size} keys`, parts }
  }

  async #writeOn(client: EtcdClient, plan: LifePlan & { writer: number }): Promise<void> {
    for (const write of plannedWrites(plan)) {
      const known = write.map(({ key, content }) => ({
        key,
        ...(content === undefined ? {} : { content: digestOf(content) }),
      }))
      this.#writes.begin(known)
      const revision = await put(client, write)
      this.#writes.acknowledge(known, revision)
      if (plan.writer === 0 && revision % 100 === 0) await client.call('Compact', { revision })
    }
  }
}

/** Resolves with the revision of the answer. */
async function put(client: EtcdClient, write: readonly KeyWrite[]): Promise<number> {
  const operations = write.map(({ key, content }) =>
    content === undefined
      ? { requestDeleteRange: { key: Buffer.from(key) } }
      : { requestPut: { key: Buffer.from(key), value: Buffer.from(content) } },
  )
  const { header } = await client.call('Txn', { success: operations })
  return header?.revision ?? 0
}

async function contentsOf(client: EtcdClient) {
  const request = { key: Buffer.from('/cut/'), rangeEnd: Buffer.from('/cut0') }
  const { kvs, header } = await client.call('Range', request)
  const found = new Map(
    kvs.map(({ key, value }) => [Buffer.from(key).toString(), digestOf(value)] as const),
  )
  return { found, revision: header?.revision ?? 0 }
}
