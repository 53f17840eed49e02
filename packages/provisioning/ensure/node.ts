import { packageInForce } from '../kind/package-in-force.ts'
import {
  StepError,
  type JoinToken,
  type MachineContext,
  type OwnMachineContext,
} from '../contract/step.ts'
import { masterLabels, registrationTaints } from '../kind/taint-checks.ts'
import { provisioningBounds } from '../limits-table.ts'
import type { Shell } from '../contract/shell.ts'
import { addressOf, must, places, untilTrue } from './commands.ts'
import { networkSizeOf } from '../kind/network-size.ts'
import { nodeNameOf, takeNodeName } from './node-name.ts'
import { registryDirectory } from './registries.ts'
import { apiPortDefault, envText, networkWords, optionWords, startUnit } from './site.ts'

const { readyMsMax } = provisioningBounds.steps

/** Makes the machine a node of the site: a token of the master, options, and the unit. */
export async function joinNode(context: MachineContext): Promise<string> {
  const { edge, master, signal } = context
  const { networkInterface } = edge.spec
  await takeNodeName(context)
  const site = await context.shellOf(master)
  const siteAddress = await addressOf(site, { address: master.address, networkInterface }, signal)
  return startNode(await createToken(site, siteAddress, context), context)
}

/** Writes the options of the node with a token of its site, and starts the unit. */
export async function startNode(
  { server, token, caHash }: JoinToken,
  context: OwnMachineContext,
): Promise<string> {
  const { edge, machine, shell, conceal, signal } = context
  const { networkInterface } = edge.spec
  conceal([token])
  const address = await addressOf(shell, { address: machine.address, networkInterface }, signal)
  const name = await nodeNameOf(context)
  await shell.write(places.joinToken, `${token}\n`, 0o600)
  const labels = Object.entries(machine.block.labels ?? {})
  const taints = registrationTaints(edge.spec, { ...machine.block, role: machine.role })
  const words = [
    ...optionWords({
      '--server': server,
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
    ...labels.flatMap(([key, value]) => ['--label', `${key}=${value}`]),
    ...taints.flatMap(({ key, value = '', effect }) => ['--taint', `${key}=${value}:${effect}`]),
  ]
  await shell.write(`${places.settings}/node.env`, envText(words), 0o600)
  await startUnit('skerry-node', context)
  return `node ${name} starts with address ${address}`
}

async function createToken(
  site: Shell,
  siteAddress: string,
  context: MachineContext,
): Promise<JoinToken> {
  const server = `https://${siteAddress}:${apiPortDefault}`
  const command = ['token', 'create', '-o', 'json', '--ttl', '1h', '--server', server]
  const text = await must(
    { ...context, shell: site },
    [places.program, ...command, '--data-dir', `${places.data}/site`],
    // The store of the site keeps what it has acknowledged.
    { isQuiet: true, keepsFiles: true },
  )
  // The machine may print what it likes, so each field is checked.
  const made: unknown = parsed(text)
  if (typeof made === 'object' && made !== null && 'token' in made && 'caHash' in made) {
    const { token, caHash } = made
    const isToken = typeof token === 'string' && /^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(token)
    const isHash = typeof caHash === 'string' && /^sha256:[0-9a-f]{64}$/.test(caHash)
    if (isToken && isHash) return { server, token, caHash }
  }
  throw new StepError('the site made no token that can be read')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller reports that there is no token; the text may contain one.
    return undefined
  }
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
