import type { EdgeCluster } from '../kind/edge-cluster.ts'
import { frontOf } from '../kind/made-masters.ts'
import type { MachineContext } from '../contract/step.ts'
import { addressOf } from './commands.ts'
import { untilServed } from './serving-site.ts'
import { startUnit } from './site.ts'
import {
  envText,
  readSiteWords,
  sanWords,
  siteOptionsFile,
  withoutOptions,
} from './site-options.ts'

/** The name of the step, by which it knows that it has been done before. */
export const apiNamesName = 'SetAPINames'

/** Returns true if the object has names, or has had some before, which must go from the certificate. */
export function hasApiNames({ spec, status }: EdgeCluster): boolean {
  if ((spec.apiNames ?? []).length > 0 || frontOf(spec) !== undefined) return true
  return (status?.steps ?? []).some(({ name }) => name === apiNamesName)
}

export function apiNamesOf({ spec }: EdgeCluster): unknown {
  const front = frontOf(spec)
  return front === undefined ? spec.apiNames : [spec.apiNames, front.address]
}

/**
 * Gives a running site the names of its API. It starts again if they are others, and serves a certificate with them;
 * nodes and pods go on meanwhile.
 */
export async function setApiNames(context: MachineContext): Promise<string> {
  const { edge, machine, shell, signal } = context
  const { networkInterface, apiNames = [] } = edge.spec
  const words = await readSiteWords(context)
  const address = await addressOf(shell, { address: machine.address, networkInterface }, signal)
  const wanted = sanWords(edge, machine, address)
  const front = frontOf(edge.spec)
  const told = `${apiNames.length} names besides the addresses${front === undefined ? '' : `, and ${front.address}`}`
  const missing = new Set(wanted).symmetricDifference(new Set(words.filter(isOfSan)))
  if (missing.size === 0) return `${told}, as before`
  const others = withoutOptions(words, ['--san'])
  await shell.write(siteOptionsFile, envText([...others, ...wanted]), 0o600)
  await startUnit('skerry-site', context)
  await untilServed(context)
  return told
}

/** Returns true for the option and for its value. */
function isOfSan(word: string, at: number, words: readonly string[]): boolean {
  return word === '--san' || words[at - 1] === '--san'
}
