import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { asError, createWakeFlag, type Clock, type Logger } from '@skerry/base'
import type { Node } from '@skerry/api'
import type { ResolvedConfig } from '../kubelet-config.ts'
import type { PodNetwork } from '../pods/pod-network.ts'
import type { NetworkedSandbox } from '../pods/pod-observer.ts'
import { hasCode, namesIn } from '../system-error.ts'
import { podNetworkName } from './cni-config.ts'
import {
  isNothing,
  planPodBridge,
  type HostLink,
  type PodBridgeFacts,
  type PodBridgePlan,
} from './pod-bridge-plan.ts'
import { kubeletBounds } from '../limits-table.ts'

const execute = promisify(execFile)

const { checkMs, retryMs, failuresMax } = kubeletBounds.podBridge

export interface PodBridgeDeps {
  clock: Clock
  log: Logger
  sandboxes: (signal: AbortSignal) => Promise<readonly NetworkedSandbox[]>
  /** Called when pods have lost their network or have it again. */
  onChange: () => void
}

/**
 * Keeps the pods' bridge as the network plugins made it, whichever program changes the node's interfaces, and
 * reports which sandboxes have lost their link.
 */
export class PodBridge implements PodNetwork {
  readonly #config: ResolvedConfig
  readonly #deps: PodBridgeDeps
  readonly #due = createWakeFlag()
  #podCidrs: readonly string[]
  #lost: ReadonlySet<string> = new Set()
  #problems: readonly string[]
  #failedCount = 0

  constructor(config: ResolvedConfig, deps: PodBridgeDeps) {
    this.#config = config
    this.#deps = deps
    this.#podCidrs = config.network.podCidr === '' ? [] : [config.network.podCidr]
    this.#problems = ['the pod network has not been checked yet']
  }

  problems(): readonly string[] {
    // Without an address range the runtime itself reports that there is no network.
    return this.#podCidrs.length === 0 ? [] : this.#problems
  }

  isCutOff(): boolean {
    return this.#failedCount >= failuresMax
  }

  hasLost(sandboxId: string): boolean {
    return this.#lost.has(sandboxId)
  }

  onNode({ spec }: Node): void {
    const assigned = spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : [])
    if (assigned.length === 0 || isDeepStrictEqual(assigned, this.#podCidrs)) return
    this.#podCidrs = assigned
    this.#due.raise()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#podCidrs.length > 0) await this.#check(signal)
      const delayMs = this.#failedCount > 0 ? retryMs : checkMs
      using _timer = this.#deps.clock.setTimer(delayMs, this.#due.raise)
      await this.#due.wait(signal)
    }
  }

  async beforeSandbox(signal: AbortSignal): Promise<void> {
    if (this.#podCidrs.length === 0) return
    const sandboxes = await this.#deps.sandboxes(signal)
    await this.#reserve(planPodBridge(await this.#facts(sandboxes, [])).reserve)
  }

  async #check(signal: AbortSignal): Promise<void> {
    const before = { lost: this.#lost, isCutOff: this.isCutOff() }
    const sandboxes = await this.#sandboxes(signal)
    if (!sandboxes) return
    try {
      const plan = planPodBridge(await this.#facts(sandboxes, await readLinks()))
      this.#lost = new Set(plan.lost)
      this.#report(plan)
      await this.#carryOut(plan)
      this.#conclude(plan.problems)
    } catch (error) {
      signal.throwIfAborted()
      this.#conclude([`the pod network cannot be put in order: ${asError(error).message}`])
    }
    const after = { lost: this.#lost, isCutOff: this.isCutOff() }
    if (!isDeepStrictEqual(before, after)) this.#deps.onChange()
  }

  /** Resolves undefined while the runtime is unreachable, during which pods keep their network. */
  async #sandboxes(signal: AbortSignal): Promise<readonly NetworkedSandbox[] | undefined> {
    try {
      return await this.#deps.sandboxes(signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.debug('Sandboxes not listed', { error: asError(error) })
      return undefined
    }
  }

  #conclude(problems: readonly string[]): void {
    this.#failedCount = problems.length === 0 ? 0 : this.#failedCount + 1
    if (this.#failedCount === 0) this.#problems = []
    if (this.#failedCount !== failuresMax) return
    this.#problems = problems
    for (const problem of problems) this.#deps.log.error('Pods have no network', { problem })
  }

  async #facts(
    sandboxes: readonly NetworkedSandbox[],
    links: readonly HostLink[],
  ): Promise<PodBridgeFacts> {
    const { podBridge: bridge } = this.#config.network
    const reserved = new Set(await namesIn(this.#reservations))
    return { bridge, podCidrs: this.#podCidrs, sandboxes, links, reserved }
  }

  #report(plan: PodBridgePlan): void {
    const { lost, attach, reserve, makeBridge, setMac } = plan
    if (lost.length > 0)
      this.#deps.log.info('Pods have lost their network', { sandboxes: lost.join(',') })
    if (isNothing(plan)) return
    this.#deps.log.info('Pod network is put in order', {
      bridge: makeBridge,
      mac: setMac,
      cables: attach.join(','),
      addresses: reserve.map(({ address }) => address).join(','),
    })
  }

  async #carryOut(plan: PodBridgePlan): Promise<void> {
    const { podBridge: bridge } = this.#config.network
    if (plan.makeBridge) await ip('link', 'add', bridge, 'type', 'bridge')
    if (plan.setMac !== undefined) await ip('link', 'set', bridge, 'address', plan.setMac)
    for (const address of plan.addAddresses) await ip('address', 'replace', address, 'dev', bridge)
    if (plan.raiseBridge) await ip('link', 'set', bridge, 'up')
    for (const link of plan.attach) await attach(link, bridge)
    await this.#reserve(plan.reserve)
  }

  /** Writes what host-local writes: a file named after the address, with the container in it. */
  async #reserve(reservations: PodBridgePlan['reserve']): Promise<void> {
    if (reservations.length === 0) return
    await mkdir(this.#reservations, { recursive: true, mode: 0o755 })
    for (const { address, sandboxId } of reservations) {
      const content = `${sandboxId}\r\neth0`
      await writeFile(join(this.#reservations, address), content, { flag: 'wx' }).catch(
        (error: unknown) => {
          if (!hasCode(error, 'EEXIST')) throw error
        },
      )
    }
  }

  get #reservations(): string {
    return join(this.#config.runDirectory, 'ipam', podNetworkName)
  }
}

/** A pod may end while its cable is being plugged in. */
async function attach(link: string, bridge: string): Promise<void> {
  try {
    await ip('link', 'set', link, 'master', bridge, 'up')
    await execute('bridge', ['link', 'set', 'dev', link, 'hairpin', 'on'])
  } catch (error) {
    const isThere = (await readLinks()).some(({ name }) => name === link)
    if (isThere) throw error
  }
}

async function ip(...args: string[]): Promise<void> {
  await execute('ip', args)
}

interface WireLink {
  ifname?: string
  master?: string
  address?: string
  flags?: string[]
  addr_info?: { local?: string; prefixlen?: number }[]
}

async function readLinks(): Promise<HostLink[]> {
  const { stdout } = await execute('ip', ['-json', 'address'], { maxBuffer: 16 * 1024 * 1024 })
  // These are iproute2's own field names; each is checked below.
  const links = JSON.parse(stdout) as WireLink[]
  return links.flatMap(({ ifname, master = '', address = '', flags = [], addr_info = [] }) =>
    ifname === undefined
      ? []
      : [
          {
            name: ifname,
            master,
            isUp: flags.includes('UP'),
            mac: address,
            addresses: addr_info.map(({ local, prefixlen }) => `${local}/${prefixlen}`),
          },
        ],
  )
}
