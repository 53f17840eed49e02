import { posix } from 'node:path'
import type { Shell } from '../contract/shell.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { apiPortDefault } from '../kind/made-masters.ts'
import { provisioningBounds } from '../limits-table.ts'
import { addressOf, must, places, untilTrue } from './commands.ts'
import { dialFile } from './allow-dial.ts'
import { exists } from './job-files.ts'
import { membersAt, voterNamed } from './members.ts'
import { untilServed } from './serving-site.ts'
import { startSiteByHub, startUnit } from './site.ts'
import {
  envText,
  etcdWords,
  memberWords,
  optionWords,
  readSiteWords,
  siteOptionsFile,
  withoutOptions,
} from './site-options.ts'
import { createMasterToken } from './site-tokens.ts'

const { joinMsMax, readyMsMax } = provisioningBounds.steps

/** The options that count until a member has joined. */
const joinOptions = ['--join', '--token-file', '--ca-hash', '--replaces']

/** The name of the only witness among the members. */
export const witnessName = 'witness'

/** Starts the site of a further master, and waits until its etcd has a vote. */
export async function joinMaster(context: MachineContext): Promise<string> {
  await dropRemoved(`${places.data}/site`, context)
  const { name, words } = await etcdWords(context)
  return join(name, context, {
    unit: 'skerry-site',
    async start(joining) {
      await writeDials(context)
      await startSiteByHub([...words, ...joining], context)
    },
  })
}

/** Starts etcd on the machine of a witness, and waits until it has a vote. */
export async function joinWitness(context: MachineContext): Promise<string> {
  await dropRemoved(`${places.data}/witness`, context)
  const words = await memberWords(context)
  const file = `${places.settings}/witness.env`
  const done = await join(witnessName, context, {
    unit: 'skerry-witness',
    async start(joining) {
      await context.shell.write(file, envText([...words, ...joining]), 0o600)
      await startUnit('skerry-witness', context)
    },
  })
  await context.shell.write(file, envText(words), 0o600)
  await must(context, ['rm', '-f', '--', places.masterToken])
  return done
}

/** Waits until a further master serves and its agent has a key at the hub, and takes back both tokens. */
export async function awaitMaster(context: MachineContext): Promise<string> {
  const { machine, shell } = context
  await untilServed(context)
  // Those that were allowed while this master joined have reached the others alone.
  await writeDials(context)
  const certificate = `${places.data}/site/agent/agent.crt`
  const otherwise = `the agent of ${machine.address} has not registered at the hub; read "journalctl -u skerry-site" there`
  await untilTrue(() => exists(context, certificate), { msMax: readyMsMax, otherwise }, context)
  const words = withoutOptions(await readSiteWords(context), joinOptions)
  await shell.write(siteOptionsFile, envText(words), 0o600)
  await must(context, ['rm', '-f', '--', places.masterToken, places.hubToken])
  return `the site of ${machine.address} serves`
}

interface Joining {
  readonly unit: string
  /** Starts the unit with options by which it joins. */
  readonly start: (joining: readonly string[]) => Promise<void>
}

/** A member that is on its way is not started again: it may be fetching its program, or the state of the others. */
async function join(
  name: string,
  context: MachineContext,
  { unit, start }: Joining,
): Promise<string> {
  const { machine, record, shell, signal } = context
  const site = await siteShell(context)
  const hasVote = async (): Promise<boolean> =>
    voterNamed(await membersAt({ ...context, shell: site }), name) !== undefined
  const running = await shell.run(['systemctl', 'is-active', '--quiet', unit], {
    signal,
    keepsFiles: true,
  })
  if (running.exitCode !== 0 || !(await hasVote())) {
    if (running.exitCode !== 0) await start(await joinWords(site, context))
    const otherwise = `member ${name} has no vote yet; read "journalctl -u ${unit}" on ${machine.address}`
    await untilTrue(hasVote, { msMax: joinMsMax, otherwise }, context)
  }
  record({ member: name, site: 'Joins' })
  return `member ${name} votes`
}

/** Makes a token on a master that serves. It opens every key of the cluster, so that it is in no argument. */
async function joinWords(site: Shell, context: MachineContext): Promise<string[]> {
  const { edge, machine, master, shell, conceal, signal } = context
  const { networkInterface } = edge.spec
  const address = await addressOf(site, { address: master.address, networkInterface }, signal)
  const kind = machine.role === 'Witness' ? '--witness' : '--master'
  const asked = { server: `https://${address}:${apiPortDefault}`, kind } as const
  const { server, token, caHash } = await createMasterToken(site, asked, context)
  conceal([token])
  await shell.write(places.masterToken, `${token}\n`, 0o600)
  return optionWords({ '--join': server, '--token-file': places.masterToken, '--ca-hash': caHash })
}

/** The others have forgotten a member that was removed: its data would only keep it from joining again. */
async function dropRemoved(data: string, context: MachineContext): Promise<void> {
  const { machine, known } = context
  if (known().find(({ address }) => address === machine.address)?.site !== 'Removed') return
  for (const unit of ['skerry-site', 'skerry-witness']) {
    if (!(await exists(context, posix.join('/etc/systemd/system', `${unit}.service`)))) continue
    await must(context, ['systemctl', 'stop', unit])
  }
  await must(context, ['rm', '-rf', '--one-file-system', '--', data])
}

/** The hub may dial through the agent of any master. */
async function writeDials({ known, machines, shell }: MachineContext): Promise<void> {
  const dialled = new Set(
    known().flatMap((each) => (each.isDialled === true ? [each.address] : [])),
  )
  for (const machine of machines) {
    if (!dialled.has(machine.address)) continue
    const { path, content } = dialFile(machine)
    await shell.write(path, content, 0o600)
  }
}

async function siteShell({ machine, master, shellOf }: MachineContext): Promise<Shell> {
  if (master.address !== machine.address) return shellOf(master)
  throw new StepError(`no other master serves that ${machine.address} could join`)
}
