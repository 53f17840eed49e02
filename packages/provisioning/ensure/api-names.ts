import type { EdgeCluster } from '../kind/edge-cluster.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { provisioningBounds } from '../limits-table.ts'
import { addressOf, ask, places, untilTrue } from './commands.ts'
import { readSmall } from './job-files.ts'
import { envText, sanWords, siteOptionsFile, startUnit } from './site.ts'

/** The name of the step, by which it knows that it has been done before. */
export const apiNamesName = 'SetAPINames'

/** Returns true if the object has names, or has had some before, which must go from the certificate. */
export function hasApiNames({ spec, status }: EdgeCluster): boolean {
  if ((spec.apiNames ?? []).length > 0) return true
  return (status?.steps ?? []).some(({ name }) => name === apiNamesName)
}

/**
 * Gives a running site the names of its API. It starts again if they are others, and serves a certificate with them;
 * nodes and pods go on meanwhile.
 */
export async function setApiNames(context: MachineContext): Promise<string> {
  const { edge, machine, shell, signal } = context
  const { networkInterface, apiNames = [] } = edge.spec
  const before = await readSmall(context, siteOptionsFile)
  const [, text] = /^SKERRY_ARGS=(.*)\n?$/.exec(before ?? '') ?? []
  if (text === undefined) {
    const why = `${siteOptionsFile} is not the file that the hub wrote; run the step StartSite again`
    throw new StepError(why, { isFinal: true })
  }
  const address = await addressOf(shell, { address: machine.address, networkInterface }, signal)
  const [words, wanted] = [text.split(' '), sanWords(edge, machine, address)]
  const told = `${apiNames.length} names besides the addresses`
  const missing = new Set(wanted).symmetricDifference(new Set(words.filter(isOfSan)))
  if (missing.size === 0) return `${told}, as before`
  const others = words.filter((...each) => !isOfSan(...each))
  await shell.write(siteOptionsFile, envText([...others, ...wanted]), 0o600)
  await startUnit('skerry-site', context)
  await untilServed(context)
  return told
}

/** Returns true for the option and for its value. */
function isOfSan(word: string, at: number, words: readonly string[]): boolean {
  return word === '--san' || words[at - 1] === '--san'
}

async function untilServed(context: MachineContext): Promise<void> {
  const { machine, shell, signal } = context
  const otherwise = `the site does not serve; read "journalctl -u skerry-site" on ${machine.address}`
  const command = [places.program, 'machine', 'nodes', '--data-dir', `${places.data}/site`] as const
  const look = async (): Promise<boolean> => (await shell.run(command, { signal })).exitCode === 0
  await untilTrue(look, { msMax: provisioningBounds.steps.readyMsMax, otherwise }, context)
  await ask(context, ['systemctl', 'is-active', 'skerry-site'])
}
