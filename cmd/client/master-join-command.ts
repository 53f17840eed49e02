import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { parseDurationMs } from '../../roles/admin/join-token.ts'
import { createMasterToken } from '../../roles/site/etcd/master-token.ts'
import { readSiteInfo } from '../../roles/site/objects/site-info.ts'
import { advertisedServers } from '../../roles/site/objects/site-objects.ts'
import type { TokenOptions } from './node-join-command.ts'
import { siteNetworkWords } from './node-words.ts'

/** Makes a token with which a further master joins a site, and prints it, or the command for its machine. */
export async function printMasterToken(
  { dataDir, kubeconfig, machine, ...options }: TokenOptions,
  { cluster, caPem }: { readonly cluster: ClusterClient; readonly caPem: string },
  signal: AbortSignal,
): Promise<void> {
  const foreign = kubeconfig === undefined ? machine && '--machine' : '--kubeconfig'
  if (foreign) {
    const text = `Cannot create a token of masters: --master and ${foreign} exclude each other; run it on a master's machine`
    throw new ExpectedError(text, exitCodes.usage)
  }
  const [server = ''] = [options.server ?? (await advertisedServers(cluster, signal))].flat()
  const info = await readSiteInfo(cluster, signal)
  const ttlSeconds = (parseDurationMs(options.ttl) ?? 0) / 1_000
  const asked = { dataDir, server, caPem, ttlSeconds }
  const made = await createMasterToken(cluster, asked, { clock: systemClock }, signal)
  if (options.output === 'json') console.log(JSON.stringify(made))
  else if (options.printJoinCommand === true) {
    const name = info ? ['--name', info.name] : []
    const words = [...name, ...siteNetworkWords(info)].map((word) => ` ${word}`).join('')
    console.log(
      `(umask 077 && echo ${made.token} > token) && skerry site --etcd embedded --join ${made.server} --token-file token --ca-hash ${made.caHash}${words}`,
    )
  } else console.log(made.token)
}
