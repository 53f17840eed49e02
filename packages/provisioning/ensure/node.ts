import { packageInForce } from '../kind/package-in-force.ts'
import { isIPv4 } from 'node:net'
import type { JoinToken, MachineContext, OwnMachineContext } from '../contract/step.ts'
import { settingsOf } from '../kind/node-settings.ts'
import { masterLabels } from '../kind/taint-checks.ts'
import { provisioningBounds } from '../limits-table.ts'
import type { Shell } from '../contract/shell.ts'
import { addressOf, must, places, untilTrue } from './commands.ts'
import { apiPortDefault, frontOf, madeMasters } from '../kind/made-masters.ts'
import { networkSizeOf } from '../kind/network-size.ts'
import { settingsWords } from './label-node.ts'
import { nodeNameOf, takeNodeName } from './node-name.ts'
import { registryDirectory } from './registries.ts'
import { giveOptions } from './role-options.ts'
import { networkWords, startUnit } from './site.ts'
import { envText, optionWords } from './site-options.ts'
import { createNodeToken } from './site-tokens.ts'

const { readyMsMax } = provisioningBounds.steps

/** Makes the machine a node of the site: a token of the master, options, and the unit. */
export async function joinNode(context: MachineContext): Promise<string> {
  const { edge, master, signal } = context
  const { networkInterface } = edge.spec
  const nodeName = await takeNodeName(context)
  const site = await context.shellOf(master)
  const siteAddress = await addressOf(site, { address: master.address, networkInterface }, signal)
  const server = `https://${siteAddress}:${apiPortDefault}`
  const made = await createNodeToken(site, { server, nodeName }, context)
  return startNode({ ...made, others: otherServers(context) }, context)
}

/** Further addresses of the API, for a node that starts while the first does not answer. */
function otherServers({ edge, machines, master, known }: MachineContext): string[] {
  const front = frontOf(edge.spec)
  const others = madeMasters(machines, known()).filter(
    ({ address }) => address !== master.address && isIPv4(address),
  )
  // With an interface of its own, a master's address in the cluster is another one than that of SSH.
  const named = edge.spec.networkInterface === undefined ? others : []
  return [
    ...(front === undefined ? [] : [front.server]),
    ...named.map(({ address }) => `https://${address}:${apiPortDefault}`),
  ]
}

/** Writes the options of the node with a token of its site, and starts the unit. */
export async function startNode(
  { server, others = [], token, caHash }: JoinToken & { readonly others?: readonly string[] },
  context: OwnMachineContext,
): Promise<string> {
  const { edge, machine, shell, conceal, signal } = context
  const { networkInterface } = edge.spec
  conceal([token])
  const address = await addressOf(shell, { address: machine.address, networkInterface }, signal)
  const name = await nodeNameOf(context)
  await shell.write(places.joinToken, `${token}\n`, 0o600)
  const words = [
    ...[server, ...others].flatMap((each) => ['--server', each]),
    ...optionWords({
      '--token-file': places.joinToken,
      '--ca-hash': caHash,
      '--node-name': name,
      '--node-ip': address,
      ...(packageInForce(edge) === undefined ? {} : { '--preload-dir': places.images }),
    }),
    ...networkWords(edge),
    ...optionWords({
      '--max-pods': String(networkSizeOf(edge.spec).podsPerNode),
      '--registry-dir': registryDirectory,
    }),
    ...settingsWords(settingsOf(edge.spec, machine)),
  ]
  await shell.write(`${places.settings}/node.env`, envText(words), 0o600)
  await giveOptions('node', context)
  await startUnit('skerry-node', context)
  return `node ${name} starts with address ${address}`
}

/** Waits until the site reports the node as Ready, and takes back the token. */
export async function awaitNode(context: MachineContext): Promise<string> {
  const { machine, master, shell } = context
  const name = await nodeNameOf(context)
  const site = await context.shellOf(master)
  const otherwise = `node ${name} is not Ready; read "journalctl -u skerry-node" on ${machine.address}`
  const isReady = async (): Promise<boolean> => {
    const command = [places.program, 'machine', 'node-ready', name] as const
    const { exitCode } = await site.run(command, {
      signal: context.signal,
      keepsFiles: true,
    })
    return exitCode === 0
  }
  await untilTrue(isReady, { msMax: readyMsMax, otherwise }, context)
  await admitNode(name, site, context)
  await must({ ...context, shell }, ['rm', '-f', '--', places.joinToken])
  return `node ${name} is Ready`
}

/** Gives the node of a master its labels, and lets pods onto a node whose departure was called off. */
async function admitNode(name: string, site: Shell, context: MachineContext): Promise<void> {
  const { edge, machine, known, record } = context
  const { address, role } = machine
  const isCordoned = known().find((each) => each.address === address)?.isCordoned === true
  if (role !== 'Master' && !isCordoned) return
  const labels = role === 'Master' ? Object.entries(masterLabels(edge.spec)) : []
  const words = labels.flatMap(([key, value]) => ['--label', `${key}=${value}`])
  await must(
    { ...context, shell: site },
    [
      ...([places.program, 'machine', 'admit-node', name] as const),
      ...words,
      ...(isCordoned ? ['--uncordon'] : []),
    ],
    { keepsFiles: true },
  )
  if (isCordoned) record({ isCordoned: false })
}
