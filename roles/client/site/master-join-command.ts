import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { parseDurationMs } from '../../admin/join-token.ts'
import { siteNetworkWords } from '../../admin/node-words.ts'
import { advertisedServers, readSiteInfo } from '../../admin/site-info.ts'
import { createMasterToken } from '../../site/etcd/master-token.ts'
import type { TokenOptions } from './node-join-command.ts'

/** Makes a token with which a further master, or a witness, joins a site, and prints it, or the command for its machine. */
export async function printMasterToken(
  { dataDir, kubeconfig, machine, ...options }: TokenOptions,
  { cluster, caPem }: { readonly cluster: ClusterClient; readonly caPem: string },
  signal: AbortSignal,
): Promise<void> {
  const isWitness = options.witness === true
  const word = isWitness ? '--witness' : '--master'
  if (isWitness && options.master === true) {
    const text = 'Cannot create a token: --master and --witness exclude each other'
    throw new ExpectedError(text, exitCodes.usage)
  }
  const foreign = kubeconfig === undefined ? machine && '--machine' : '--kubeconfig'
  if (foreign) {
    const text = `Cannot create a token of masters: ${word} and ${foreign} exclude each other; run it on a master's machine`
    throw new ExpectedError(text, exitCodes.usage)
  }
  const [server = ''] = [options.server ?? (await advertisedServers(cluster, signal))].flat()
  const info = await readSiteInfo(cluster, signal)
  const ttlSeconds = (parseDurationMs(options.ttl) ?? 0) / 1_000
  const asked = { dataDir, server, caPem, ttlSeconds, isWitness }
  const made = await createMasterToken(cluster, asked, { clock: systemClock }, signal)
  if (options.output === 'json') console.log(JSON.stringify(made))
  else if (options.printJoinCommand === true) {
    const name = info ? ['--name', info.name] : []
    const role = isWitness ? 'witness' : 'site --etcd embedded'
    const own = isWitness ? [] : [...name, ...siteNetworkWords(info)]
    const words = own.map((each) => ` ${each}`).join('')
    console.log(
      `(umask 077 && echo ${made.token} > token) && skerry ${role} --join ${made.server} --token-file token --ca-hash ${made.caHash}${words}`,
    )
  } else console.log(made.token)
}
