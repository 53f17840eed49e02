import { join } from 'node:path'
import { checkDnsSubdomain } from '@skerry/api'
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import { nodeTokenGroup } from '@skerry/bootstrap'
import type { ClusterClient } from '@skerry/client'
import { nodeNameGroup } from '@skerry/pki'
import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { createJoinToken, parseDurationMs } from '../../admin/join-token.ts'
import { offeredPackage } from '../../program/line-package.ts'
import { machineLine, pinScript } from '../../program/machine-line.ts'
import { packageWords } from '../../program/package-key.ts'
import { bareNodeWords, nodeJoinLine } from '../../admin/node-join-line.ts'
import { clientServers, publishedAuthority, readSiteInfo } from '../../admin/site-info.ts'
import { choosePackage, refusePackageAlone, type LinePackageFlags } from '../choose-package.ts'
import { askMs, lineMs } from '../limits-table.ts'
import { tellExpiry } from '../text/tell-expiry.ts'

export interface TokenOptions extends LinePackageFlags {
  dataDir: string
  kubeconfig: string | undefined
  server: string | undefined
  ttl: string
  printJoinCommand: boolean | undefined
  nodeName: string | undefined
  master: boolean | undefined
  witness: boolean | undefined
  output: string | undefined
}

/** Makes a token with which nodes join a site, and prints it, or the command or the line for a new machine. */
export async function printJoinToken(options: TokenOptions): Promise<void> {
  if (options.machine === true && options.printJoinCommand !== true) {
    const text = 'Cannot print a line: --machine belongs to --print-join-command'
    throw new ExpectedError(text, exitCodes.usage)
  }
  refusePackageAlone(options)
  refuseName(options)
  const signal = AbortSignal.timeout(options.machine === true ? lineMs : askMs)
  const { cluster, caPem } = await openSite(options, signal)
  if (options.master === true || options.witness === true) {
    const { printMasterToken } = await import('./master-join-command.ts')
    return printMasterToken(options, { cluster, caPem }, signal)
  }
  const info = await readSiteInfo(cluster, signal)
  const named = options.server === undefined ? await clientServers(cluster, info, signal) : []
  const [server, ...others] = [options.server ?? [], ...named].flat()
  if (server === undefined) throw new TypeError('Cannot create token: there is no address')
  const byDefault = (): ReturnType<typeof offeredPackage> => offeredPackage(cluster, signal)
  const offline = await choosePackage(options, cluster, byDefault, signal)
  // Nothing is made if there is no program to give.
  const script =
    options.machine === true ? await pinScript(cluster, { server, offline }, signal) : undefined
  const ttlSeconds = (parseDurationMs(options.ttl) ?? 0) / 1_000
  const description = 'made by skerry token create'
  const { nodeName } = options
  const bound = nodeName === undefined ? {} : { groups: [nodeTokenGroup, nodeNameGroup(nodeName)] }
  const made = await createJoinToken(
    cluster,
    { server, caPem, ttlSeconds, description, ...bound },
    { clock: systemClock },
    signal,
  )
  const words = bareNodeWords(made, { info, packaged: packageWords(offline) })
  const line = script && machineLine({ script, token: made.token, words })
  if (options.output === 'json') console.log(JSON.stringify({ ...made, line, script }))
  else if (line !== undefined) {
    console.log(line)
    tellExpiry(made.expiresAtMs, options.ttl)
  } else if (options.printJoinCommand === true) console.log(nodeJoinLine(made, { others, info }))
  else console.log(made.token)
}

/** Masters join under the name of their host, and their token opens more than a name. */
function refuseName({ nodeName, master, witness }: TokenOptions): void {
  if (nodeName === undefined) return
  if (master === true || witness === true) {
    throw new ExpectedError('Cannot create token: --node-name is for nodes', exitCodes.usage)
  }
  // The label kubernetes.io/hostname has it, and no label is longer.
  if (checkDnsSubdomain(nodeName).length === 0 && nodeName.length <= 63) return
  const text = `Cannot create token: --node-name ${nodeName} is not the name of a node`
  throw new ExpectedError(text, exitCodes.usage)
}

async function openSite(
  { dataDir, kubeconfig }: TokenOptions,
  signal: AbortSignal,
): Promise<{ cluster: ClusterClient; caPem: string }> {
  if (kubeconfig === undefined) return openAdminCluster(join(dataDir, 'admin.kubeconfig'))
  const { cluster } = await openAdminCluster(kubeconfig, { isElsewhere: true })
  // The authority in the file may be that of a hub, through which the site is reached.
  const caPem = await publishedAuthority(cluster, signal)
  if (caPem !== undefined) return { cluster, caPem }
  const text = 'Cannot create token: the cluster does not publish its authority'
  throw new ExpectedError(text, exitCodes.failure)
}
