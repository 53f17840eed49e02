import { once } from 'node:events'
import { connect as connectByTls } from 'node:tls'
import { connectByTcp, unlessAborted, withTimeout, type Clock } from '@skerry/base'
import { etcdPkiPaths, readFileIfPresent } from '@skerry/bootstrap'
import {
  EtcdMemberClient,
  type EtcdEndpoints,
  type EtcdMember,
  type EtcdMemberStatus,
} from '@skerry/store'
import { clusterState, type ClusterState } from './cluster-state.ts'
import { portOf } from './embedded-options.ts'
import { siteBounds } from '../limits-table.ts'

const { answerMs } = siteBounds.etcd.watch

/** Connections to the members of a site's etcd, with the certificates of the site. */
export class MemberClients implements Disposable {
  readonly #clients = new Map<string, EtcdMemberClient>()
  readonly #tls: { readonly ca: string; readonly cert: string; readonly key: string }
  readonly #clock: Clock

  private constructor(tls: { ca: string; cert: string; key: string }, clock: Clock) {
    this.#tls = tls
    this.#clock = clock
  }

  /** Reads the certificates once; connections that are made later use the same. */
  static async open(pki: string, clock: Clock): Promise<MemberClients> {
    const read = async (path: string): Promise<string> => (await readFileIfPresent(path)) ?? ''
    const { certificatePath, keyPath } = etcdPkiPaths(pki, 'client')
    const ca = await read(etcdPkiPaths(pki, 'ca').certificatePath)
    return new MemberClients(
      { ca, cert: await read(certificatePath), key: await read(keyPath) },
      clock,
    )
  }

  at(url: string): EtcdMemberClient {
    let client = this.#clients.get(url)
    if (client === undefined) {
      client = new EtcdMemberClient(url, this.#tls, this.#clock)
      this.#clients.set(url, client)
    }
    return client
  }

  /** Returns the way to one member, for other clients of etcd. */
  endpoints(url: string): EtcdEndpoints {
    return { endpoints: [url], tls: this.#tls }
  }

  /** Asks the members in turn until one gives an answer. Rejects with the last one's error. */
  async first<Answer>(
    urls: readonly string[],
    ask: (client: EtcdMemberClient) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    let last: unknown = new Error('Cannot ask etcd: no member is known')
    for (const url of urls) {
      try {
        return await ask(await this.#greeted(url, signal))
      } catch (error) {
        signal.throwIfAborted()
        last = error
      }
    }
    throw last
  }

  /** Asks each member about itself; one that is silent is part of the state. */
  async look(members: readonly EtcdMember[], signal: AbortSignal): Promise<ClusterState> {
    const asked = members.map(async ({ clientUrls: [url] }) =>
      url === undefined ? undefined : this.statusOf(url, signal),
    )
    return clusterState(members, await Promise.all(asked))
  }

  /** Resolves undefined if the member does not answer soon. */
  async statusOf(url: string, signal: AbortSignal): Promise<EtcdMemberStatus | undefined> {
    const limit = { clock: this.#clock, ms: answerMs, message: `Cannot ask ${url}: no answer` }
    try {
      return await withTimeout(limit, signal, async (scope) => {
        const client = await this.#greeted(url, scope)
        return client.status(scope)
      })
    } catch {
      // Silence is an answer, too.
      signal.throwIfAborted()
      return undefined
    }
  }

  /**
   * Resolves true if anything listens at the URL, such as a member whose certificate is not valid by this machine's clock:
   * one that gives no status is not dead for that.
   */
  async listensAt(url: string, signal: AbortSignal): Promise<boolean> {
    const { hostname: host } = new URL(url)
    try {
      const connect = connectByTcp({ timeoutMs: answerMs, clock: this.#clock })
      const socket = await connect({ host, port: portOf(url) }, signal)
      socket.destroy()
      return true
    } catch {
      // Silence is an answer, too.
      signal.throwIfAborted()
      return false
    }
  }

  /**
   * Returns a client of a member whose port answers. An etcd that starts without a quorum takes connections and greets
   * nobody, and gRPC would keep one, and with it the process of a command, for ever.
   */
  async #greeted(url: string, signal: AbortSignal): Promise<EtcdMemberClient> {
    if (!this.#clients.has(url)) {
      const message = `Cannot ask ${url}: it takes connections and answers nothing`
      await withTimeout({ clock: this.#clock, ms: answerMs, message }, signal, (scope) =>
        this.#greet(url, scope),
      )
    }
    return this.at(url)
  }

  async #greet(url: string, signal: AbortSignal): Promise<void> {
    const { cert, key } = this.#tls
    const place = { host: new URL(url).hostname, port: portOf(url) }
    // Calls check the certificate of the member.
    const options = { ...place, cert, key, ALPNProtocols: ['h2'], rejectUnauthorized: false }
    const socket = connectByTls(options)
    try {
      await unlessAborted(once(socket, 'secureConnect'), signal)
    } finally {
      socket.destroy()
    }
  }

  /** Forgets connections to members that are gone. */
  keepOnly(urls: readonly string[]): void {
    for (const [url, client] of this.#clients) {
      if (urls.includes(url)) continue
      client[Symbol.dispose]()
      this.#clients.delete(url)
    }
  }

  [Symbol.dispose](): void {
    this.keepOnly([])
  }
}
