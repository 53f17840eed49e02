import { join } from 'node:path'
import { asError, createWakeFlag, type Clock, type Logger } from '@skerry/base'
import type { Node } from '@skerry/api'
import type { ResolvedConfig } from '../kubelet-config.ts'
import { writeCniConfig } from './cni-config.ts'
import { addressPlugin, writeCniPlugins } from './cni-plugins.ts'
import { kubeletBounds } from '../limits-table.ts'

const bridgeDefault = 'skerry0'

const { checkMs } = kubeletBounds.podNetworkFiles

/** Writes the pod network's configuration as soon as, and whenever, the node's podCIDR is known. */
export class PodNetworkFiles {
  readonly #config: ResolvedConfig
  readonly #clock: Clock
  readonly #log: Logger
  readonly #changed = createWakeFlag()
  #podCidrs: readonly string[]

  constructor(config: ResolvedConfig, { clock, log }: { clock: Clock; log: Logger }) {
    this.#clock = clock
    this.#config = config
    this.#log = log
    const { podCidr } = config.network
    this.#podCidrs = podCidr === '' ? [] : [podCidr]
  }

  onNode(node: Node): void {
    const { podCIDRs, podCIDR } = node.spec ?? {}
    const assigned = podCIDRs ?? (podCIDR ? [podCIDR] : [])
    if (assigned.length === 0) return
    this.#podCidrs = assigned
    this.#changed.raise()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      using _timer = this.#clock.setTimer(checkMs, this.#changed.raise)
      try {
        await this.#write()
      } catch (error) {
        signal.throwIfAborted()
        this.#log.error('Cannot write the pod network', { error: asError(error) })
      }
      await this.#changed.wait(signal)
    }
  }

  async #write(): Promise<void> {
    if (this.#podCidrs.length === 0) return
    const { network } = this.#config
    const { cniConfDirectory, cniBinDirectory, cniPluginDirectory } = network
    const keepsAddresses = cniPluginDirectory !== ''
    if (keepsAddresses) {
      await writeCniPlugins({
        directory: cniPluginDirectory,
        systemDirectory: cniBinDirectory,
        podsDirectory: join(this.#config.dataDirectory, 'pods'),
      })
    }
    const isChanged = await writeCniConfig(cniConfDirectory, {
      podCidrs: this.#podCidrs,
      ipamDirectory: join(this.#config.runDirectory, 'ipam'),
      ...(keepsAddresses ? { ipamPlugin: addressPlugin } : {}),
      bridge: network.podBridge || bridgeDefault,
    })
    if (isChanged) this.#log.info('Pod network configured', { podCidrs: this.#podCidrs.join(',') })
  }
}
