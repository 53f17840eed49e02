import { type EdgeCluster, clusterNameOfEdge } from '../kind/edge-cluster.ts'
import { isOnEtcd } from '../kind/masters-checks.ts'
import { nodeBitsOf } from '../kind/network-size.ts'
import { provisioningBounds, edgeNetworkDefaults } from '../limits-table.ts'
import type {
  ForMachineContext,
  JoinToken,
  MachineContext,
  OwnMachineContext,
} from '../contract/step.ts'
import { addressOf, must, places, untilTrue } from './commands.ts'
import { nodeNameOf } from './node-name.ts'
import { giveOptions } from './role-options.ts'
import { apiWords, envText, etcdWords, optionWords, siteOptionsFile } from './site-options.ts'

const { startMsMax, readyMsMax } = provisioningBounds.steps

/** Starts the site on the master, with a token by which its agent registers at the hub. */
export async function startSite(context: ForMachineContext): Promise<string> {
  const shell = await context.shellOf(context.machine)
  const own = { ...context, shell }
  const etcd = isOnEtcd(context.edge.spec) ? (await etcdWords(own)).words : []
  return startSiteByHub(etcd, own)
}

/** Starts a site whose agent registers at the hub with a token of its own, which registers one key. */
export async function startSiteByHub(
  further: readonly string[],
  context: MachineContext,
): Promise<string> {
  const { edge, hub, signal } = context
  const server = hub.server(edge)
  const { token, caHash } = await hub.createToken(clusterNameOfEdge(edge), edge, signal)
  const agent = ['--apply-works', ...optionWords({ '--allow-dial-dir': places.allowedDials })]
  return startSiteOf({ server, token, caHash }, [...agent, ...further], context)
}

/** Writes the options of the site with a token of its hub, and further ones, and starts the unit. */
export async function startSiteOf(
  { server, token, caHash }: JoinToken,
  further: readonly string[],
  context: OwnMachineContext,
): Promise<string> {
  const { edge, machine, shell, conceal, signal } = context
  const { networkInterface } = edge.spec
  conceal([token])
  const address = await addressOf(shell, { address: machine.address, networkInterface }, signal)
  await shell.write(places.hubToken, `${token}\n`, 0o600)
  const words = [
    ...optionWords({
      '--name': clusterNameOfEdge(edge),
      '--hub': server,
      '--hub-token-file': places.hubToken,
      '--hub-ca-hash': caHash,
    }),
    ...networkWords(edge),
    ...optionWords({ '--node-cidr-mask-size': String(nodeBitsOf(edge.spec.network)) }),
    ...further,
    ...apiWords(edge, machine, address),
  ]
  await shell.write(siteOptionsFile, envText(words), 0o600)
  await giveOptions('site', context)
  await startUnit('skerry-site', context)
  return `the site runs on ${address}`
}

/** Waits until the hub reaches the site's API, and takes back the token. */
export async function awaitSite(context: ForMachineContext): Promise<string> {
  const { edge, hub, machine: master, signal, record } = context
  const name = clusterNameOfEdge(edge)
  const otherwise = `cluster ${name} is not Ready on the hub; read "journalctl -u skerry-site" on ${master.address}`
  await untilTrue(() => hub.isReady(name, edge, signal), { msMax: readyMsMax, otherwise }, context)
  const shell = await context.shellOf(master)
  await must({ ...context, shell }, ['rm', '-f', '--', places.hubToken])
  if (isOnEtcd(edge.spec)) record({ member: await nodeNameOf({ ...context, shell }) })
  return `cluster ${name} is Ready on the hub`
}

/** Returns the network's values as options of a role. */
export function networkWords({ spec }: EdgeCluster): string[] {
  const { podCIDR, serviceCIDR, dnsDomain } = { ...edgeNetworkDefaults, ...spec.network }
  return optionWords({
    '--cluster-cidr': podCIDR,
    '--service-cidr': serviceCIDR,
    '--cluster-domain': dnsDomain,
  })
}

/** Starts a unit now and at each boot. One that runs already is started again, with its present options. */
export async function startUnit(unit: string, context: Parameters<typeof must>[0]): Promise<void> {
  await must(context, ['systemctl', 'enable', '--quiet', unit])
  const { exitCode } = await context.shell.run(['systemctl', 'restart', unit], {
    timeoutMs: startMsMax,
    signal: context.signal,
  })
  if (exitCode === 0) return
  await must(context, ['journalctl', '--no-pager', '--lines', '20', '--unit', unit])
  await must(context, ['systemctl', 'is-active', unit])
}
