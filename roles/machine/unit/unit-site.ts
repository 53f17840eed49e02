import { join } from 'node:path'
import type { UnitServing } from '@skerry/edge-apps'
import { createJoinToken } from '../../admin/join-token.ts'
import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { engineFlags } from '../../runtime/engine-flags.ts'
import { exists } from '../../runtime/files.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { servedVersion } from '../../runtime/version.ts'
import type { UnitJoin, UnitSettings } from '../../site/units/unit-order.ts'
import { superviseRole, type ChildRole } from '../../up/child-role.ts'
import { machineBounds } from '../limits-table.ts'
import { unitPaths } from './unit-state.ts'

const { tokenTtlSeconds } = machineBounds.unit.site

export interface UnitSiteOptions {
  readonly dataDir: string
  readonly address: string
  readonly port: number
  /** The hub on which the unit appears under its name while it is a cluster of its own. */
  readonly hub?: UnitHub | undefined
}

export interface UnitHub {
  readonly url: string
  /** Needed only until it has registered. */
  readonly tokenFile: string | undefined
  readonly caHash: string | undefined
}

export interface StartedUnit {
  readonly unit: string
  readonly settings: UnitSettings
}

/** The unit's own control plane, a process of its own that runs while the unit's record is open. */
export class UnitSite implements AsyncDisposable {
  readonly #options: UnitSiteOptions
  readonly #context: RoleContext
  #child: ChildRole | undefined
  #join: { readonly way: UnitJoin; readonly untilMs: number } | undefined

  constructor(options: UnitSiteOptions, context: RoleContext) {
    this.#options = options
    this.#context = context
  }

  get server(): string {
    return `https://${this.#options.address}:${this.#options.port}`
  }

  /** Where it serves, once it does. */
  get serves(): UnitServing | undefined {
    return this.#child?.isReady() ? { version: servedVersion, server: this.server } : undefined
  }

  /** Starts it unless it runs. */
  async start({ unit, settings }: StartedUnit): Promise<void> {
    if (this.#child) return
    const { dataDir, address, port } = this.#options
    const { site, log } = unitPaths(dataDir)
    const { clusterCidr, serviceCidr, clusterDomain, nodeCidrMaskSize } = settings
    // Its first start makes the authority; the key of its Secrets is there already.
    const isFirst = !(await exists(join(site, 'pki', 'ca.crt')))
    const args = Object.entries({
      '--data-dir': site,
      '--name': unit,
      '--port': String(port),
      '--advertise-address': address,
      '--cluster-cidr': clusterCidr,
      '--service-cidr': serviceCidr,
      '--cluster-domain': clusterDomain,
      '--node-cidr-mask-size': String(nodeCidrMaskSize),
      ...hubOptions(this.#options.hub),
    }).flat()
    if (isFirst) args.push('--new-encryption-key')
    const options = { role: 'site', args, logFile: log, engineFlags: engineFlags['site'] ?? [] }
    this.#child = superviseRole(options, this.#context, this.#context.signal)
    this.#context.log.info('Control plane of the unit starts', { unit, server: this.server })
  }

  /** Resolves when it has ended; nobody writes to its store any more. */
  async stop(): Promise<void> {
    await this.#child?.stop()
    this.#child = undefined
    this.#join = undefined
  }

  /** Resolves when it serves. Rejects if it ended first; the next start is another try. */
  async whenReady(): Promise<void> {
    try {
      await this.#child?.ready
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /** Resolves with the way by which nodes of the unit join. A token is given out for half of its life. */
  async join(signal: AbortSignal): Promise<UnitJoin> {
    const nowMs = this.#context.clock.monotonicMs()
    if (this.#join && nowMs < this.#join.untilMs) return this.#join.way
    await this.whenReady()
    const { site } = unitPaths(this.#options.dataDir)
    const { cluster, caPem } = await openAdminCluster(join(site, 'admin.kubeconfig'))
    const { server } = this
    const description = 'nodes of the unit'
    const options = { server, caPem, ttlSeconds: tokenTtlSeconds, description }
    const { token, caHash } = await createJoinToken(cluster, options, this.#context, signal)
    const way = { server, token, caHash }
    this.#join = { way, untilMs: nowMs + (tokenTtlSeconds * 1_000) / 2 }
    return way
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

function hubOptions(hub: UnitHub | undefined): Readonly<Record<string, string>> {
  if (hub === undefined) return {}
  const { url, tokenFile, caHash } = hub
  return {
    '--hub': url,
    ...(tokenFile === undefined ? {} : { '--hub-token-file': tokenFile }),
    ...(caHash === undefined ? {} : { '--hub-ca-hash': caHash }),
  }
}
