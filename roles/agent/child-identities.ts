import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StatusError } from '@skerry/api'
import { linkedSignal, runAll, unlessAborted, type Task } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  type Cluster,
  type HttpsTransport,
  type HttpsTransportConfig,
  type Transport,
} from '@skerry/client'
import { RoundGate, RunningClusters } from '@skerry/cluster-agent'
import type { ChildHub, IdentityOf } from '@skerry/virtual-clusters'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import type { AgentIdentity } from './agent-identity.ts'
import { createIdentitySecret, type IdentitySecret } from './identity-secret.ts'

/** A virtual cluster that asks who it is. */
export interface AskingChild {
  readonly name: string
  /** Where its certificate and key are kept. */
  readonly directory: string
  /** The control plane does not take the certificate that is there any more. */
  readonly isRefused: boolean
  /** Said why it waits; meanwhile its requests are refused with that. */
  readonly onWaiting: (why: string) => void
}

/** What is different at our hub and at Karmada. */
export interface ChildIdentitiesOptions {
  /** Of the whole cluster: where its own identity is, theirs are in folders below. */
  readonly directory: string
  /** In which the whole cluster's identity is kept, and theirs beside it. */
  readonly identitySecret?: string | undefined
  /** One that has failed is tried again, or a refused one replaced, after this at the earliest. */
  readonly retryMs: number
  /** A refused certificate is replaced while the process runs; false: that is for a person. */
  readonly replacesRefused: boolean
  /** From disk, where an earlier start left it; else by a request. The context ends with the virtual cluster. */
  readonly obtain: (child: AskingChild, context: RoleContext) => Promise<AgentIdentity>
  /** Takes away what it has at the control plane beside its Cluster; absent: nothing. */
  readonly giveUp?: (hub: Cluster, name: string, signal: AbortSignal) => Promise<unknown>
}

export interface ChildIdentities {
  readonly identityOf: IdentityOf
  /** Renews them until the signal aborts; none is opened while it does not run. */
  readonly run: Task
}

/** Of the requests and certificates that a new identity takes, so many at once. */
const openingMax = 16

/** Who each virtual cluster is at the control plane: a certificate of its own, which renews itself. */
export function createChildIdentities(
  options: ChildIdentitiesOptions,
  { local, parent }: { readonly local: Cluster; readonly parent: AgentIdentity },
  context: RoleContext,
): ChildIdentities {
  const shared: Shared = {
    options,
    local,
    parent,
    context,
    running: new RunningClusters(),
    gate: new RoundGate(openingMax),
  }
  const children = new Map<string, Child>()
  return {
    identityOf(clusterName): ChildHub {
      const known = children.get(clusterName)
      if (known) return known.asHub
      const onReleased = (): void => void children.delete(clusterName)
      const child = new Child(clusterName, shared, onReleased)
      children.set(clusterName, child)
      return child.asHub
    },
    async run(signal) {
      try {
        await shared.running.run(signal)
      } finally {
        for (const child of children.values()) child[Symbol.dispose]()
      }
    },
  }
}

/** Where the identities of an agent's virtual clusters are. */
function childDirectory(directory: string, clusterName: string): string {
  return join(directory, 'clusters', clusterName)
}

/** Whether it has ever got a certificate. */
export async function isRegistered(directory: string): Promise<boolean> {
  return (await readFileIfPresent(join(directory, 'agent.crt'))) !== undefined
}

interface Shared {
  readonly options: ChildIdentitiesOptions
  readonly local: Cluster
  readonly parent: AgentIdentity
  readonly context: RoleContext
  readonly running: RunningClusters
  readonly gate: RoundGate
}

/** One attempt to get an identity; `waits` rejects while it is for a person to decide. */
interface Opening {
  readonly identity: Promise<AgentIdentity>
  readonly waits: PromiseWithResolvers<never>
}

class Child implements Disposable {
  readonly asHub: ChildHub
  readonly #name: string
  readonly #shared: Shared
  readonly #transport: HttpsTransport
  readonly #directory: string
  readonly #secret: IdentitySecret | undefined
  readonly #life: ReturnType<typeof linkedSignal>
  #opening: Opening | undefined
  #opened: AgentIdentity | undefined
  #isRefused = false
  /** When the last attempt ended. */
  #endedMs: number | undefined

  constructor(name: string, shared: Shared, onReleased: () => void) {
    const { options, local, context, parent } = shared
    const { identitySecret: secret } = options
    this.#name = name
    this.#shared = shared
    this.#life = linkedSignal(context.signal)
    const directory = childDirectory(options.directory, name)
    this.#directory = directory
    this.#secret =
      secret === undefined
        ? undefined
        : createIdentitySecret({ local, secret, directory, child: name }, context)
    const config: HttpsTransportConfig = {
      ...parent.transport,
      credentials: async (signal) => {
        const { client } = this.#opened ?? (await unlessAborted(this.#identity(), signal))
        return client.credentials(signal)
      },
    }
    this.#transport = createHttpsTransport(config)
    const { log, clock } = context
    const userAgent = `skerry/${version} (agent)`
    const hub = createCluster(this.#noticing(), { log, clock, userAgent })
    this.asHub = {
      hub,
      release: async (signal) => {
        await this.#release(hub, signal)
        onReleased()
      },
    }
  }

  [Symbol.dispose](): void {
    this.#life.abort(new Error(`Virtual cluster "${this.#name}" has left`))
    this.#life[Symbol.dispose]()
    this.#transport[Symbol.dispose]()
  }

  /** Whom the control plane does not know any more asks for another certificate, not too often. */
  #noticing(): Transport {
    return {
      send: async (request, signal) => {
        const answer = await this.#transport.send(request, signal)
        const { replacesRefused } = this.#shared.options
        if (answer.status === 401 && replacesRefused && this.#opened && this.#isDue()) {
          this.#isRefused = true
          this.#opened = undefined
          this.#opening = undefined
        }
        return answer
      },
    }
  }

  #isDue(): boolean {
    const { context, options } = this.#shared
    if (this.#endedMs === undefined) return false
    return context.clock.monotonicMs() - this.#endedMs >= options.retryMs
  }

  #identity(): Promise<AgentIdentity> {
    if (this.#opened === undefined && this.#isDue()) this.#opening = undefined
    const { identity, waits } = (this.#opening ??= this.#open())
    return Promise.race([identity, waits.promise])
  }

  #open(): Opening {
    const waits = Promise.withResolvers<never>()
    // Each request races both promises in #identity and rejects with their errors. These two handlers
    // only keep an error that no request waits for from ending the process.
    waits.promise.catch(() => undefined)
    this.#endedMs = undefined
    const identity = this.#become(waits)
    identity.catch(() => undefined)
    return { identity, waits }
  }

  async #become(waits: Opening['waits']): Promise<AgentIdentity> {
    const { gate, running, context } = this.#shared
    const name = this.#name
    try {
      await running.stop(name)
      // Whoever waits for a person keeps nobody else waiting.
      const { obtained } = await gate.pass(this.#life.signal, async () => {
        const asked = this.#obtain(waits)
        await Promise.allSettled([Promise.race([asked, waits.promise])])
        return { obtained: asked }
      })
      const identity = await obtained
      const tasks: Task[] = [(scope) => identity.client.run(scope)]
      if (this.#secret) tasks.push(this.#secret.keep(identity))
      await running.ensure(name, { version: '', task: (scope) => runAll(scope, tasks) })
      this.#isRefused = false
      this.#opened = identity
      return identity
    } finally {
      this.#endedMs = context.clock.monotonicMs()
    }
  }

  async #obtain(waits: Opening['waits']): Promise<AgentIdentity> {
    const { options, context } = this.#shared
    const { signal } = this.#life
    await this.#secret?.restore(signal)
    const child: AskingChild = {
      name: this.#name,
      directory: this.#directory,
      isRefused: this.#isRefused,
      onWaiting: (why) => waits.reject(new StatusError('Forbidden', why)),
    }
    return options.obtain(child, { ...context, signal })
  }

  /** What it has there goes first: by its identity it may take that away. */
  async #release(hub: Cluster, signal: AbortSignal): Promise<void> {
    const { options, running } = this.#shared
    if (options.giveUp && (await isRegistered(this.#directory))) {
      await options.giveUp(hub, this.#name, signal)
    }
    this[Symbol.dispose]()
    // It rejects because its life has just ended, or has told its error to those who waited for it.
    await this.#opening?.identity.catch(() => undefined)
    await running.stop(this.#name)
    await this.#secret?.clear(signal)
    await rm(this.#directory, { recursive: true, force: true })
  }
}
