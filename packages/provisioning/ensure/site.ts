import { type EdgeCluster, clusterNameOfEdge } from '../kind/edge-cluster.ts'
import { nodeBitsOf } from '../kind/network-size.ts'
import { provisioningBounds, edgeNetworkDefaults } from '../limits-table.ts'
import type { JoinToken, OwnMachineContext, StepContext } from '../contract/step.ts'
import { addressOf, must, places, untilTrue } from './commands.ts'

const { startMsMax, readyMsMax } = provisioningBounds.steps

/** Starts the site on the master, with a token by which its agent registers at the hub. */
export async function startSite(context: StepContext): Promise<string> {
  const { edge, hub, master, signal } = context
  const shell = await context.shellOf(master)
  const name = clusterNameOfEdge(edge)
  const server = hub.server(edge)
  const { token, caHash } = await hub.createToken(name, edge, signal)
  const further = ['--apply-works', ...optionWords({ '--allow-dial-dir': places.allowedDials })]
  return startSiteOf({ server, token, caHash }, further, {
    ...context,
    machine: master,
    shell,
  })
}

/** The port of a site's API unless a line names another one. */
export const apiPortDefault = 6_443

/** The options of the site, as the hub decides them. */
export const siteOptionsFile = `${places.settings}/site.env`

/** Returns the options that name the site's API, each name once. */
export function sanWords(
  { spec }: EdgeCluster,
  machine: { readonly address: string },
  address: string,
): string[] {
  const names = new Set([address, machine.address, ...(spec.apiNames ?? [])])
  return [...names].flatMap((name) => ['--san', name])
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
    ...sanWords(edge, machine, address),
  ]
  await shell.write(siteOptionsFile, envText(words), 0o600)
  await startUnit('skerry-site', context)
  return `the site runs on ${address}`
}

/** Waits until the hub reaches the site's API, and takes back the token. */
export async function awaitSite(context: StepContext): Promise<string> {
  const { edge, hub, master, signal } = context
  const name = clusterNameOfEdge(edge)
  const otherwise = `cluster ${name} is not Ready on the hub; read "journalctl -u skerry-site" on ${master.address}`
  await untilTrue(() => hub.isReady(name, edge, signal), { msMax: readyMsMax, otherwise }, context)
  const shell = await context.shellOf(master)
  await must({ ...context, shell }, ['rm', '-f', '--', places.hubToken])
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

export function optionWords(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).flat()
}

/** Returns the file from which systemd takes a role's options, split at spaces. Throws if a word cannot be in it. */
export function envText(words: readonly string[], variable = 'SKERRY_ARGS'): string {
  const odd = words.find((word) => !/^[\w.,:/@=+-]+$/.test(word))
  if (odd !== undefined)
    throw new RangeError(`Cannot write an option with special characters: ${odd}`)
  return `${variable}=${words.join(' ')}\n`
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
