import { join } from 'node:path'
import { createWakeFlag, type Logger } from '@skerry/base'
import type { Node } from '@skerry/api'
import type { ResolvedConfig } from '../kubelet-config.ts'
import { writeCniConfig } from './cni-config.ts'

/** Writes the pod network's configuration as soon as, and whenever, the node's podCIDR is known. */
export class PodNetworkFiles {
  readonly #config: ResolvedConfig
  readonly #log: Logger
  readonly #changed = createWakeFlag()
  #podCidrs: readonly string[]

  constructor(config: ResolvedConfig, { log }: { log: Logger }) {
    this.#config = config
    this.#log = log
    this.#podCidrs = config.podCidr === '' ? [] : [config.podCidr]
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
      await this.#write()
      await this.#changed.wait(signal)
    }
  }

  async #write(): Promise<void> {
    if (this.#podCidrs.length === 0) return
    const isChanged = await writeCniConfig(this.#config.cniConfDirectory, {
      podCidrs: this.#podCidrs,
      ipamDirectory: join(this.#config.runDirectory, 'ipam'),
      bridge: 'skerry0',
    })
    if (isChanged) this.#log.info('Pod network configured', { podCidrs: this.#podCidrs.join(',') })
  }
}
