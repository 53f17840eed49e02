import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StatusError, isStatusError } from '@skerry/api'
import { ExpectedError, runAll, unlessAborted, type Task } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  type Cluster,
  type HttpsTransport,
  type HttpsTransportConfig,
} from '@skerry/client'
import {
  RoundGate,
  RunningClusters,
  deleteKarmadaRights,
  virtualIdOf,
  type ChildHub,
  type IdentityOf,
} from '@skerry/karmada'
import type { AgentIdentity } from './agent-identity.ts'
import { createIdentitySecret, type IdentitySecret } from './identity-secret.ts'
import { openKarmadaIdentity, type KarmadaIdentityOptions } from './karmada-identity.ts'
import type { RoleContext } from './role-context.ts'
import { version } from './version.ts'

export interface KarmadaIdentitiesOptions extends KarmadaIdentityOptions {
  /** Of the whole cluster: where its own identity is, theirs are in folders below. */
  directory: string
  /** In which the whole cluster's identity is kept, and theirs beside it. */
  identitySecret?: string | undefined
}

export interface KarmadaIdentities {
  readonly identityOf: IdentityOf
  /** Renews them until the signal aborts; none is opened while it does not run. */
  readonly run: Task
}

/** Of the requests and certificates that a new identity takes, so many at once. */
const openingMax = 4
/** A token that has run out is not tried again with each request; another one is found within this. */
const retryMs = 15_000

/** Who the agent is at Karmada for each virtual cluster: there a certificate is for one cluster. */
export function createKarmadaIdentities(
  options: KarmadaIdentitiesOptions,
  { local, parent }: { readonly local: Cluster; readonly parent: AgentIdentity },
  context: RoleContext,
): KarmadaIdentities {
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
export function childDirectory(directory: string, clusterName: string): string {
  return join(directory, 'clusters', clusterName)
}

interface Shared {
  readonly options: KarmadaIdentitiesOptions
  readonly local: Cluster
  readonly parent: AgentIdentity
  readonly context: RoleContext
  readonly running: RunningClusters
  readonly gate: RoundGate
}

class Child implements Disposable {
  readonly asHub: ChildHub
  readonly #name: string
  readonly #shared: Shared
  readonly #transport: HttpsTransport
  readonly #directory: string
  readonly #secret: IdentitySecret | undefined
  #opening: Promise<AgentIdentity> | undefined
  #failedMs: number | undefined

  constructor(name: string, shared: Shared, onReleased: () => void) {
    const { options, local, context, parent } = shared
    this.#name = name
    this.#shared = shared
    this.#directory = childDirectory(options.directory, name)
    this.#secret =
      options.identitySecret === undefined
        ? undefined
        : createIdentitySecret(
            { local, secret: options.identitySecret, directory: this.#directory, child: name },
            context,
          )
    const config: HttpsTransportConfig = {
      ...parent.transport,
      credentials: async (signal) => {
        const { client } = await unlessAborted(this.#identity(), signal)
        return client.credentials(signal)
      },
    }
    this.#transport = createHttpsTransport(config)
    const { log, clock } = context
    const userAgent = `skerry/${version} (agent)`
    const hub = createCluster(this.#transport, { log, clock, userAgent })
    this.asHub = {
      hub,
      release: async (signal) => {
        await this.#release(hub, signal)
        onReleased()
      },
    }
  }

  [Symbol.dispose](): void {
    this.#transport[Symbol.dispose]()
  }

  #identity(): Promise<AgentIdentity> {
    const { clock } = this.#shared.context
    const isDue = this.#failedMs !== undefined && clock.monotonicMs() - this.#failedMs >= retryMs
    if (isDue) this.#opening = undefined
    this.#opening ??= this.#open()
    return this.#opening
  }

  async #open(): Promise<AgentIdentity> {
    const { gate, running, context } = this.#shared
    this.#failedMs = undefined
    try {
      const identity = await gate.pass(context.signal, () => this.#obtain())
      const tasks: Task[] = [(scope) => identity.client.run(scope)]
      if (this.#secret) tasks.push(this.#secret.keep(identity))
      await running.ensure(this.#name, { version: '', task: (scope) => runAll(scope, tasks) })
      return identity
    } catch (error) {
      this.#failedMs = context.clock.monotonicMs()
      throw await this.#explained(error)
    }
  }

  async #obtain(): Promise<AgentIdentity> {
    const { options, parent, context } = this.#shared
    await this.#secret?.restore(context.signal)
    const asked = {
      ...options,
      directory: this.#directory,
      clusterName: this.#name,
      authorityPem: parent.authorityPem,
      readClusterId: async (signal: AbortSignal) =>
        virtualIdOf(await options.readClusterId(signal), this.#name),
    }
    return openKarmadaIdentity(asked, context)
  }

  /**
   * Who has never got a certificate has nothing at Karmada, so its requests find nothing: its group can
   * still be deleted. Whose has run out waits for a token with what it has there.
   */
  async #explained(error: unknown): Promise<unknown> {
    const isLeftOut = error instanceof ExpectedError || isStatusError(error, 'Unauthorized')
    if (!isLeftOut || (await this.#isRegistered())) return error
    const why = error instanceof Error ? error.message : String(error)
    return new StatusError('NotFound', why, { cause: error })
  }

  async #isRegistered(): Promise<boolean> {
    return (await readFileIfPresent(join(this.#directory, 'agent.crt'))) !== undefined
  }

  /** Its rights go first: by them it may take them away. */
  async #release(hub: Cluster, signal: AbortSignal): Promise<void> {
    if (await this.#isRegistered()) await deleteKarmadaRights(hub, this.#name, signal)
    await this.#shared.running.stop(this.#name)
    await this.#secret?.clear(signal)
    await rm(this.#directory, { recursive: true, force: true })
    this[Symbol.dispose]()
  }
}
