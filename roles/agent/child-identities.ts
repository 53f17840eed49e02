import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StatusError } from '@skerry/api'
import { linkedSignal, runAll, unlessAborted, type Task } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  type ClusterClient,
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
import { agentBounds } from './limits-table.ts'

/** A virtual cluster that requests its identity. */
export interface AskingChild {
  readonly name: string
  /** The directory of its certificate and key. */
  readonly directory: string
  /** True if the control plane no longer accepts the present certificate. */
  readonly isRefused: boolean
  /** Called with the reason why it waits, with which its requests are refused meanwhile. */
  readonly onWaiting: (why: string) => void
}

/** The differences between our hub and Karmada. */
export interface ChildIdentitiesOptions {
  /** The directory of the whole cluster's own identity; those of its virtual clusters are in folders below. */
  readonly directory: string
  /** The Secret that keeps the whole cluster's identity and those of its virtual clusters. */
  readonly identitySecret?: string | undefined
  /** The time after which a failed attempt is repeated, or a refused identity replaced, at the earliest. */
  readonly retryMs: number
  /** A refused certificate is replaced while the process runs; false: that is for a person. */
  readonly replacesRefused: boolean
  /**
   * Obtains the identity from disk if an earlier start left one; otherwise requests it. The context ends with
   * the virtual cluster.
   */
  readonly obtain: (child: AskingChild, context: RoleContext) => Promise<AgentIdentity>
  /** Removes its objects at the control plane other than its Cluster. If omitted, there are none. */
  readonly giveUp?: (hub: ClusterClient, name: string, signal: AbortSignal) => Promise<unknown>
}

export interface ChildIdentities {
  readonly identityOf: IdentityOf
  /** Renews them until the signal aborts; none is opened while it does not run. */
  readonly run: Task
}

const { openingMax } = agentBounds.childIdentities

/**
 * Creates the identities of the virtual clusters at the control plane: each has its own certificate, which
 * renews itself.
 */
export function createChildIdentities(
  options: ChildIdentitiesOptions,
  { local, parent }: { readonly local: ClusterClient; readonly parent: AgentIdentity },
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

/** Returns the directory of a virtual cluster's identity. */
function childDirectory(directory: string, clusterName: string): string {
  return join(directory, 'clusters', clusterName)
}

/** Reports whether it has ever had a certificate. */
export async function isRegistered(directory: string): Promise<boolean> {
  return (await readFileIfPresent(join(directory, 'agent.crt'))) !== undefined
}

interface Shared {
  readonly options: ChildIdentitiesOptions
  readonly local: ClusterClient
  readonly parent: AgentIdentity
  readonly context: RoleContext
  readonly running: RunningClusters
  readonly gate: RoundGate
}

/** One attempt to get an identity; `waits` rejects while a person must decide. */
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
  /** The time at which the last attempt ended. */
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
    this.#transport = createHttpsTransport(config, context)
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

  /**
   * Requests another certificate, at a limited rate, when the control plane no longer accepts the present
   * one.
   */
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
    // Each request races both promises in #identity and rejects with their errors. These two handlers only
    // keep an error that no request waits for from ending the process.
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
      // A request that waits for a person must not block the others.
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

  /** Its objects at the control plane go first, because deleting them needs its identity. */
  async #release(hub: ClusterClient, signal: AbortSignal): Promise<void> {
    const { options, running } = this.#shared
    if (options.giveUp && (await isRegistered(this.#directory))) {
      await options.giveUp(hub, this.#name, signal)
    }
    this[Symbol.dispose]()
    // It rejects because its life has just ended, or its waiters have already received the error.
    await this.#opening?.identity.catch(() => undefined)
    await running.stop(this.#name)
    await this.#secret?.clear(signal)
    await rm(this.#directory, { recursive: true, force: true })
  }
}
