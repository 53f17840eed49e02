import { InvalidArgumentError, type Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { JoinDeps } from '../../roles/machine/join/own-machine.ts'
import type { JoinOptions } from '../../roles/machine/join/join-options.ts'
import { pemOfKey, type LinePackage } from '../../roles/program/package-key.ts'
import { toLineProxy } from '../../roles/program/line-proxy.ts'
import { collect, example, toFixedPort, toPods } from '../flags/option-values.ts'
import { toDigest } from '../flags/package-flags.ts'
import { collectLabel, collectTaint, type TaintFlag } from '../flags/node-flags.ts'

/** The words by which a line names an offline package. */
interface OfflineFlags {
  package: string | undefined
  /** In PEM. */
  packageKey: string | undefined
}

interface JoinFlags extends OfflineFlags {
  server: string
  caHash: string
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
  maxPods: number | undefined
  networkInterface: string | undefined
  label: Record<string, string>
  taint: TaintFlag[]
  proxy: string | undefined
  proxyCredentials: boolean | undefined
  direct: string[]
}

/** The words that the line for a site has in addition. */
interface JoinSiteFlags extends JoinFlags {
  name: string
  port: number
  inspectedTls: boolean | undefined
}

/** The operator writes it on the machine before the line is pasted. */
const proxyCredentialsFile = '/etc/skerry/proxy-credentials'

/** Adds the commands that a copied line runs on a machine once the program is there. */
export function addMachineJoinCommands(machine: Command): void {
  addJoinNode(machine)
  addJoinSite(machine)
}

function joining(command: Command): Command {
  return command
    .requiredOption('--ca-hash <hash>', 'sha256:<hex> of its authority', toHash)
    .option('--cluster-cidr <range>', 'addresses of pods', '10.42.0.0/16')
    .option('--service-cidr <range>', 'addresses of services', '10.43.0.0/16')
    .option('--cluster-domain <name>', 'DNS domain of the cluster', 'cluster.local')
    .option('--max-pods <number>', 'pods that the node runs at most', toPods)
    .option(
      '--network-interface <name>',
      "interface with the machine's address in the cluster (default: the one on the way to the server)",
    )
    .option('--label <key=value>', 'label of the node (repeatable)', collectLabel, {})
    .option(
      '--taint <key=value:effect>',
      'taint with which the node registers (repeatable)',
      collectTaint,
      [],
    )
    .option('--proxy <url>', 'HTTP proxy for packages, images and the way to a hub', toLineProxy)
    .option('--proxy-credentials', 'the proxy requires the login in /etc/skerry/proxy-credentials')
    .option(
      '--direct <host>',
      'host, range or domain to reach without the proxy (repeatable)',
      collect,
      [],
    )
    .option(
      '--package <digest>',
      'offline package of that server for missing system packages, and for images',
      toDigest,
    )
    .option('--package-key <key>', 'public key of its operator, in one line of base64', toKey)
}

function addJoinNode(machine: Command): void {
  joining(machine.command('join-node'))
    .description('Make this machine a node of a site, with a token on standard input, and wait')
    .requiredOption('--server <url>', 'address of the site', toServer)
    .option('--cluster <name>', 'name of the site', 'site')
    .addHelpText(
      'after',
      `
The line of "skerry token create --print-join-command --machine" runs it. Run again, it does what is missing.
${example('skerry machine join-node --server https://10.0.0.5:6443 --ca-hash sha256:… <token')}`,
    )
    .action(async ({ cluster, ...flags }: JoinFlags & { cluster: string }) => {
      const { joinThisNode } = await import('../../roles/machine/join/this-node.ts')
      await joinThisNode(await optionsOf(cluster, flags), await depsOf())
    })
}

function addJoinSite(machine: Command): void {
  joining(machine.command('join-site'))
    .description('Make this machine a site of a hub with a node, with a token on standard input')
    .requiredOption('--server <url>', 'address of the hub', toServer)
    .requiredOption('--name <name>', 'name of the cluster on the hub')
    .option('--port <number>', "port of the site's API", toFixedPort, 6443)
    .option('--inspected-tls', 'a box on the way to the hub opens TLS')
    .argument('[options...]', 'further options of "skerry site", after --')
    .addHelpText(
      'after',
      `
The line of "skerry cluster join-command --machine" runs it. Run again, it does what is missing.
${example('skerry machine join-site --server https://hub:7443 --name shop-7 --ca-hash sha256:… -- --apply-works <token')}`,
    )
    .action(async (siteOptions: string[], { name, ...flags }: JoinSiteFlags) => {
      const { joinThisSite } = await import('../../roles/machine/join/this-site.ts')
      await joinThisSite({ ...(await optionsOf(name, flags)), siteOptions }, await depsOf())
    })
}

async function optionsOf(
  clusterName: string,
  flags: JoinFlags & Partial<JoinSiteFlags>,
): Promise<JoinOptions> {
  const { requireRoot } = await import('../../roles/machine/prepare-machine.ts')
  requireRoot()
  const { readTokenFrom } = await import('../../roles/machine/join/read-token.ts')
  const { server, caHash, clusterCidr, serviceCidr, clusterDomain, networkInterface } = flags
  const { label: labels, taint: taints, port: apiPort = 6_443, proxy, direct: noProxy } = flags
  const offline = packageOf(flags)
  const pods = flags.maxPods === undefined ? {} : { podsPerNode: flags.maxPods }
  return {
    server,
    caHash,
    token: await readTokenFrom(process.stdin),
    clusterName,
    network: {
      podCIDR: clusterCidr,
      serviceCIDR: serviceCidr,
      dnsDomain: clusterDomain,
      ...pods,
    },
    networkInterface,
    labels,
    taints,
    offline,
    apiPort,
    way: {
      proxy,
      proxyCredentialsFile: flags.proxyCredentials === true ? proxyCredentialsFile : undefined,
      noProxy,
      isInspected: flags.inspectedTls === true,
    },
  }
}

function packageOf({
  package: digest,
  packageKey: publicKey,
}: OfflineFlags): LinePackage | undefined {
  if (digest !== undefined && publicKey !== undefined) return { digest, publicKey }
  if (digest === publicKey) return undefined
  const text = 'Cannot join: --package and --package-key belong together'
  throw new ExpectedError(text, exitCodes.usage)
}

async function depsOf(): Promise<JoinDeps> {
  const { silentLogger, systemClock } = await import('@skerry/base')
  const { stopSignal } = await import('../../roles/runtime/role-context.ts')
  const print = (line: string): void => console.log(line)
  return { clock: systemClock, log: silentLogger, print, signal: stopSignal() }
}

function toHash(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return text
  throw new InvalidArgumentError('a hash is sha256: and 64 hexadecimal digits')
}

function toServer(text: string): string {
  const isOrigin = URL.canParse(text) && new URL(text).origin === text.replace(/\/$/, '')
  if (isOrigin && text.startsWith('https://')) return new URL(text).origin
  throw new InvalidArgumentError('an address is https://<host>:<port>')
}

function toKey(text: string): string {
  const pem = pemOfKey(text)
  if (pem !== undefined) return pem
  throw new InvalidArgumentError('a key is the base64 of an Ed25519 public key, as a line has it')
}
