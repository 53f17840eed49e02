import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  asError,
  createBackoff,
  messageOf,
  sayWhenNew,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { GrpcChannel, loadMethods, pluginCaller } from '../cri/grpc-channel.ts'
import { csiDefaults, kubeletBounds } from '../limits-table.ts'
import { namesIn } from '../system-error.ts'
import { TaskGroup } from '../task-group.ts'
import { registrationService } from './csi-schema-table.ts'

/** A program that offers itself at a socket in the registry's directory. */
export interface Plugin {
  readonly name: string
  /** The socket of its service, which may be another one than that of its registration. */
  readonly endpoint: string
  /** The socket at which it registers. */
  readonly socket: string
  readonly versions: readonly string[]
}

export interface PluginHandler {
  /** Throws PluginRefusal if the plugin must not be used, and any other error to be asked again. */
  add(plugin: Plugin, signal: AbortSignal): Promise<void>
  remove(plugin: Plugin): void
}

/** A refusal, which is sent to the plugin. */
export class PluginRefusal extends Error {
  override name = 'PluginRefusal'
}

export interface PluginRegistryDeps {
  clock: Clock
  random: Random
  log: Logger
  /** The handlers by type of plugin; other types are refused. */
  handlers: Readonly<Record<string, PluginHandler>>
}

const { scanMs, probeTimeoutMs } = csiDefaults
const { socketsMax, messageBytesMax, registrationRetry } = kubeletBounds.csi

interface Offer {
  /** The identity of the socket's file: a program that starts again makes another one. */
  readonly identity: string
  plugin?: Plugin
  handler?: PluginHandler
}

/**
 * Finds plugins by their sockets, as kubelet does (pluginregistration/v1), asks each for its name, and gives it to
 * the handler of its type. Each socket has a task of its own, so that a program that hangs holds up no other one. A
 * plugin whose socket is gone is removed.
 */
export class PluginRegistry {
  readonly #directory: string
  readonly #deps: PluginRegistryDeps
  readonly #offers = new Map<string, Offer>()
  #isCrowded = false

  constructor(directory: string, deps: PluginRegistryDeps) {
    this.#directory = directory
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    await mkdir(this.#directory, { recursive: true, mode: 0o750 })
    await using tasks = new TaskGroup(signal, (socket, error) => {
      log.error('Registration of a plugin failed', { socket, error: asError(error) })
    })
    const sayFault = sayWhenNew((fault: string) =>
      log.error('Cannot read the directory of plugins', { fault }),
    )
    for (;;) {
      // Plugins stay registered meanwhile: a disk in trouble says nothing about them.
      const faults = await this.#scan(tasks).then(
        () => [],
        (error: unknown) => [messageOf(error)],
      )
      sayFault(faults)
      await clock.sleep(scanMs, signal)
    }
  }

  async #scan(tasks: TaskGroup): Promise<void> {
    const found = await this.#sockets()
    for (const [socket, offer] of this.#offers) {
      if (found.get(socket) === offer.identity) continue
      await tasks.stop(socket)
      this.#offers.delete(socket)
      if (offer.plugin) offer.handler?.remove(offer.plugin)
    }
    for (const [socket, identity] of found) {
      if (this.#offers.has(socket)) continue
      const offer: Offer = { identity }
      this.#offers.set(socket, offer)
      tasks.add(socket, (scope) => this.#registerUntilDone(socket, offer, scope))
    }
  }

  async #sockets(): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    const names = await namesIn(this.#directory)
    for (const name of names.filter((each) => !each.startsWith('.')).toSorted()) {
      const path = join(this.#directory, name)
      const stats = await stat(path).catch(() => undefined)
      if (!stats?.isSocket()) continue
      if (found.size < socketsMax) found.set(path, `${stats.ino}/${stats.ctimeMs}`)
      else if (!this.#isCrowded) {
        this.#isCrowded = true
        this.#deps.log.error('Too many sockets of plugins: others are not looked at', {
          directory: this.#directory,
          socketsMax,
        })
      }
    }
    return found
  }

  async #registerUntilDone(socket: string, offer: Offer, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps
    const backoff = createBackoff(registrationRetry, random)
    for (;;) {
      try {
        return await this.#register(socket, offer, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof PluginRefusal) {
          log.error('Plugin refused', { socket, error })
          return
        }
        log.debug('Plugin not registered yet', { socket, error: asError(error) })
        await clock.sleep(backoff.nextMs(), signal)
      }
    }
  }

  async #register(socket: string, offer: Offer, signal: AbortSignal): Promise<void> {
    const { log, handlers } = this.#deps
    using channel = new GrpcChannel(`unix:${socket}`, { messageBytesMax })
    const call = pluginCaller(channel, loadMethods(registrationService))
    const answer = await call('GetInfo', {}, probeTimeoutMs, signal)
    // The schema table defines this answer.
    const info = answer as {
      type: string
      name: string
      endpoint: string
      supportedVersions: string[]
    }
    const { type, name, endpoint, supportedVersions: versions } = info
    const plugin: Plugin = { name, endpoint: endpoint || socket, socket, versions }
    const notify = async (error: string): Promise<void> => {
      const status = { pluginRegistered: error === '', error }
      await call('NotifyRegistrationStatus', status, probeTimeoutMs, signal).catch(
        (cause: unknown) => {
          signal.throwIfAborted()
          log.debug('Plugin not told about its registration', { socket, error: asError(cause) })
        },
      )
    }
    try {
      const handler = Object.hasOwn(handlers, type) ? handlers[type] : undefined
      if (!handler) {
        throw new PluginRefusal(
          `no handler registered for plugin type: ${type} at socket ${socket}`,
        )
      }
      await handler.add(plugin, signal)
      Object.assign(offer, { plugin, handler })
    } catch (error) {
      if (error instanceof PluginRefusal) await notify(error.message)
      throw error
    }
    await notify('')
  }
}
