import { join } from 'node:path'
import { bootstrapNamespace, bootstrapSecretType } from '@skerry/api'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import type { UnitServing } from '@skerry/edge-apps'
import { createJoinToken } from '../../admin/join-token.ts'
import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { engineFlags } from '../../runtime/engine-flags.ts'
import { exists } from '../../runtime/files.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { servedVersion } from '../../runtime/version.ts'
import { findEtcd } from '../../site/etcd/etcd-program.ts'
import { requireFreePorts } from '../../site/etcd/free-ports.ts'
import { mastersGroup } from '../../site/etcd/join-keys.ts'
import { removeOthers } from '../../site/etcd/leave-members.ts'
import { createMasterToken } from '../../site/etcd/master-token.ts'
import type { UnitJoin, UnitSettings } from '../../site/units/unit-order.ts'
import { superviseRole, type ChildRole } from '../../up/child-role.ts'
import { machineBounds } from '../limits-table.ts'
import { isVoter, moveToFile, placeOfState } from './unit-etcd.ts'
import { unitPaths, type JoinedMaster } from './unit-state.ts'

const { tokenTtlSeconds, masterTokenTtlSeconds, growAgainMs } = machineBounds.unit.site

export interface UnitSiteOptions {
  readonly dataDir: string
  readonly nodeName: string
  readonly address: string
  readonly port: number
  /** Path of an etcd, for a unit with several servers. If omitted, one that is found or installed. */
  readonly etcdProgram?: string | undefined
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
  /** The way to the others for a further server. */
  readonly way?: JoinedMaster['way']
}

interface Lent {
  readonly way: UnitJoin
  readonly untilMs: number
}

/** The unit's own control plane on this machine, a process of its own that runs while the unit's record is open. */
export class UnitSite implements AsyncDisposable {
  readonly #options: UnitSiteOptions
  readonly #context: RoleContext
  #child: ChildRole | undefined
  #join: Lent | undefined
  #masterJoin: Lent | undefined
  #trouble: string | undefined
  #program: string | undefined
  #growsAtMs = -Infinity
  #growFault = 'its control plane did not start with an etcd; it is tried again'

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

  /** Why it does not serve, if it has ended by itself. */
  get trouble(): string | undefined {
    return this.serves ? undefined : this.#trouble
  }

  /** Starts it unless it runs. */
  async start(started: StartedUnit): Promise<void> {
    if (this.#child) return
    const { site } = unitPaths(this.#options.dataDir)
    const isGrown = started.way !== undefined || (await placeOfState(site)) === 'etcd'
    await this.#spawn(started, isGrown ? await this.#etcdOptions(started) : {})
  }

  /** Gives it an etcd, which others can join. Rejects while it does not serve. */
  async grow(started: StartedUnit): Promise<void> {
    const { site } = unitPaths(this.#options.dataDir)
    if ((await placeOfState(site)) === 'etcd') return
    this.#requireServing()
    const { address } = this.#options
    const nowMs = this.#context.clock.monotonicMs()
    if (nowMs < this.#growsAtMs) throw new Error(this.#growFault)
    this.#growsAtMs = nowMs + growAgainMs
    try {
      // It goes on as it is if anything is missing.
      const options = await this.#etcdOptions(started)
      const [clientUrl, peerUrl] = [`https://${address}:2379`, `https://${address}:2380`]
      await requireFreePorts({ bindAddress: '0.0.0.0', clientUrl, peerUrl })
      await this.stop()
      await this.#spawn(started, options)
    } catch (error) {
      this.#growFault = messageOf(error)
      throw error
    }
  }

  /** Ends it with its state in a file, and without others that share it. Rejects while the others could not know. */
  async close(started: StartedUnit): Promise<void> {
    const { clock, signal } = this.#context
    const { site } = unitPaths(this.#options.dataDir)
    await this.start(started)
    if ((await placeOfState(site)) === 'file') return this.stop()
    this.#requireServing()
    await this.#takeTokensBack(signal)
    await removeOthers(site, clock, signal)
    await this.stop()
    await moveToFile({ site, etcdProgram: await this.#etcdProgram() }, this.#context)
    this.#context.log.info('Control plane of the unit is on one server', { server: this.server })
  }

  #requireServing(): void {
    if (this.serves) return
    const { log } = unitPaths(this.#options.dataDir)
    const why = this.#trouble ?? `its log is ${log}`
    throw new ExpectedError(`its control plane does not serve yet: ${why}`, exitCodes.unreachable)
  }

  async #etcdOptions({ way }: StartedUnit): Promise<Readonly<Record<string, string>>> {
    const { dataDir, nodeName } = this.#options
    const program = { '--etcd-program': await this.#etcdProgram() }
    const own = { '--etcd': 'embedded', '--master-name': nodeName, ...program }
    if (way === undefined) return own
    const { masterToken } = unitPaths(dataDir)
    const { server, caHash } = way
    return { ...own, '--join': server, '--token-file': masterToken, '--ca-hash': caHash }
  }

  /** It stays when the unit comes back, and for the next time. */
  async #etcdProgram(): Promise<string> {
    const { dataDir, etcdProgram } = this.#options
    const { log, signal } = this.#context
    if (this.#program !== undefined) return this.#program
    const { path } = await findEtcd(etcdProgram, unitPaths(dataDir).etcdProgram, log, signal)
    return (this.#program = path)
  }

  async #spawn(
    { unit, settings, way }: StartedUnit,
    more: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { dataDir, address, port } = this.#options
    const { site, log } = unitPaths(dataDir)
    const { clusterCidr, serviceCidr, clusterDomain, nodeCidrMaskSize } = settings
    // Its first start makes the authority; the key of its Secrets is there already.
    const isFirst = way === undefined && !(await exists(join(site, 'pki', 'ca.crt')))
    const args = Object.entries({
      '--data-dir': site,
      '--name': unit,
      '--port': String(port),
      '--advertise-address': address,
      '--cluster-cidr': clusterCidr,
      '--service-cidr': serviceCidr,
      '--cluster-domain': clusterDomain,
      '--node-cidr-mask-size': String(nodeCidrMaskSize),
      ...more,
      ...hubOptions(this.#options.hub),
    }).flat()
    if (isFirst) args.push('--new-encryption-key')
    const options = { role: 'site', args, logFile: log, engineFlags: engineFlags['site'] ?? [] }
    const child = superviseRole(options, this.#context, this.#context.signal)
    this.#child = child
    this.#trouble = undefined
    child.ready.catch((error: unknown) => {
      this.#trouble = messageOf(error)
    })
    this.#context.log.info('Control plane of the unit starts', { unit, server: this.server })
  }

  /** Resolves when it has ended; nobody writes to its store any more. */
  async stop(): Promise<void> {
    await this.#child?.stop()
    this.#child = undefined
    this.#join = undefined
    this.#masterJoin = undefined
  }

  /** Resolves with the way by which nodes of the unit join; undefined while it does not serve. A token is given out for half of its life. */
  async join(signal: AbortSignal): Promise<UnitJoin | undefined> {
    if (!this.serves) return undefined
    const known = this.#fresh(this.#join)
    if (known) return known
    const { cluster, caPem } = await this.#admin()
    const { server } = this
    const description = 'nodes of the unit'
    const options = { server, caPem, ttlSeconds: tokenTtlSeconds, description }
    const { token, caHash } = await createJoinToken(cluster, options, this.#context, signal)
    this.#join = this.#lend({ server, token, caHash }, tokenTtlSeconds)
    return this.#join.way
  }

  /** Resolves with the way by which further servers of the unit join; undefined while it has no etcd that serves. */
  async masterJoin(signal: AbortSignal): Promise<UnitJoin | undefined> {
    const { site: dataDir } = unitPaths(this.#options.dataDir)
    if (!this.serves || !(await isVoter(dataDir))) return undefined
    const known = this.#fresh(this.#masterJoin)
    if (known) return known
    const { cluster, caPem } = await this.#admin()
    const { server } = this
    const options = { dataDir, server, caPem, ttlSeconds: masterTokenTtlSeconds }
    const { token, caHash } = await createMasterToken(cluster, options, this.#context, signal)
    this.#masterJoin = this.#lend({ server, token, caHash }, masterTokenTtlSeconds)
    return this.#masterJoin.way
  }

  #admin(): ReturnType<typeof openAdminCluster> {
    const { site } = unitPaths(this.#options.dataDir)
    return openAdminCluster(join(site, 'admin.kubeconfig'))
  }

  #fresh(lent: Lent | undefined): UnitJoin | undefined {
    return lent && this.#context.clock.monotonicMs() < lent.untilMs ? lent.way : undefined
  }

  #lend(way: UnitJoin, ttlSeconds: number): Lent {
    return { way, untilMs: this.#context.clock.monotonicMs() + (ttlSeconds * 1_000) / 2 }
  }

  /** Nobody joins an etcd that is about to end. */
  async #takeTokensBack(signal: AbortSignal): Promise<void> {
    this.#masterJoin = undefined
    const { cluster } = await this.#admin()
    for (const name of await masterTokens(cluster, signal)) {
      const secrets = cluster.resource(resources.secrets)
      await secrets.delete({ namespace: bootstrapNamespace, name }, signal)
    }
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

async function masterTokens(cluster: ClusterClient, signal: AbortSignal): Promise<string[]> {
  const request = { namespace: bootstrapNamespace, fieldSelector: `type=${bootstrapSecretType}` }
  const { items } = await cluster.resource(resources.secrets).list(request, signal)
  const groupsOf = (data: Readonly<Record<string, string>> = {}): string =>
    Buffer.from(data['auth-extra-groups'] ?? '', 'base64').toString()
  return items
    .filter(({ data }) => groupsOf(data).split(',').includes(mastersGroup))
    .map(({ metadata }) => metadata.name ?? '')
}
