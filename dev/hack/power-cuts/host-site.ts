import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClusterClient } from '@skerry/client'
import { runToEnd, until } from '@skerry/testing'
import { freePort } from '../../processes/free-port.ts'
import { hostAddress } from '../virtual-machines/quick-image.ts'
import { isReady, openSiteApi, type SiteApi } from './api-of-site.ts'

const launcher = join(import.meta.dirname, '../../../skerry')
const startMsMax = 600_000

/** A site on the host, which a node in a machine can reach. */
export class HostSite implements AsyncDisposable {
  readonly #directory: string
  #port = 0
  #process: ChildProcess | undefined
  #api: SiteApi | undefined
  readonly #onExit = (): void => void this.#process?.kill('SIGKILL')

  constructor(directory: string) {
    this.#directory = directory
    process.once('exit', this.#onExit)
  }

  /** The URL of the API as machines see it. */
  get server(): string {
    return `https://${hostAddress}:${this.#port}`
  }

  get cluster(): ClusterClient {
    if (this.#api === undefined) throw new Error('Cannot ask the site: it has not started')
    return this.#api.cluster
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    if (this.#port === 0) this.#port = await freePort()
    const words = [
      'site --bind-address 127.0.0.1',
      `--port ${this.#port} --san ${hostAddress} --advertise-address ${hostAddress}`,
    ].join(' ')
    const command = [...words.split(' '), '--data-dir', this.#dataDirectory]
    await using log = await open(join(this.#directory, 'site.log'), 'a')
    this.#process = spawn(launcher, command, { stdio: ['ignore', log.fd, log.fd] })
    const signal = AbortSignal.timeout(startMsMax)
    const config = join(this.#dataDirectory, 'admin.kubeconfig')
    const text = await until(() => readFile(config, 'utf8').catch(() => ''), signal)
    this.#api ??= await openSiteApi(text, join(this.#directory, 'host.kubeconfig'), this.#port)
    const api = this.#api
    await until(() => isReady(api, signal), signal)
  }

  async stop(): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  async createToken(): Promise<{ token: string; caHash: string }> {
    const words = ['token', 'create', '--data-dir', this.#dataDirectory, '-o', 'json']
    const { stdout, stderr, exitCode } = await runToEnd([launcher, ...words], {})
    if (exitCode !== 0) throw new Error(`Cannot make a token: ${stderr}`)
    // The program's own JSON.
    return JSON.parse(stdout) as { token: string; caHash: string }
  }

  get #dataDirectory(): string {
    return join(this.#directory, 'site')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#onExit)
    await this.stop()
    this.#api?.[Symbol.dispose]()
  }
}
