import { edgeClusterBounds } from '../limits-table.ts'
import { StepError, type OwnMachineContext } from '../contract/step.ts'
import type { EdgeCluster } from '../kind/edge-cluster.ts'
import { frontOf } from '../kind/made-masters.ts'
import { addressOf, places } from './commands.ts'
import { readSmall } from './job-files.ts'
import { nodeNameOf } from './node-name.ts'

/** The options of the site, as the hub decides them. */
export const siteOptionsFile = `${places.settings}/site.env`

/** Returns the names of the site's API, each once. */
function sanWords(
  { spec }: EdgeCluster,
  machine: { readonly address: string },
  address: string,
): string[] {
  const front = frontOf(spec)
  const names = new Set([
    address,
    machine.address,
    ...(front === undefined ? [] : [front.address]),
    ...(spec.apiNames ?? []),
  ])
  return [...names].flatMap((name) => ['--san', name])
}

/** The options by which a site knows under which addresses clients find it. */
const addressOptions: readonly string[] = ['--san', '--control-plane-endpoint']

/** Returns the options that name the site's API, and the address before the masters that it hands out. */
export function apiWords(
  edge: EdgeCluster,
  machine: { readonly address: string },
  address: string,
): string[] {
  const front = frontOf(edge.spec)
  const endpoint = front === undefined ? [] : ['--control-plane-endpoint', front.endpoint]
  return [...sanWords(edge, machine, address), ...endpoint]
}

/** Splits words into those of `apiWords`, with their values, and the others. */
export function splitApiWords(words: readonly string[]): {
  readonly own: readonly string[]
  readonly others: readonly string[]
} {
  const others = withoutOptions(words, addressOptions)
  const isOwn = (word: string, at: number): boolean =>
    addressOptions.includes(word) || addressOptions.includes(words[at - 1] ?? '')
  return { own: words.filter(isOwn), others }
}

/** Returns the options of a member of the site's etcd, and its name: the host name, as of the node. */
export async function etcdWords(
  context: OwnMachineContext,
): Promise<{ readonly name: string; readonly words: readonly string[] }> {
  const name = await nodeNameOf(context)
  const own = ['--etcd', 'embedded', '--master-name', name]
  return { name, words: [...own, ...(await memberWords(context))] }
}

/** Returns the options that a master and a witness have in common. */
export async function memberWords(context: OwnMachineContext): Promise<string[]> {
  const { edge, machine, shell, signal } = context
  const { networkInterface, store } = edge.spec
  const address = await addressOf(shell, { address: machine.address, networkInterface }, signal)
  const heartbeat = store?.heartbeatMilliseconds ?? edgeClusterBounds.heartbeatMsDefault
  return ['--advertise-address', address, '--etcd-heartbeat', String(heartbeat)]
}

/** Reads the options of the site. Rejects with a StepError if the file is not the hub's. */
export async function readSiteWords(context: OwnMachineContext): Promise<string[]> {
  const before = await readSmall(context, siteOptionsFile)
  const [, text] = /^SKERRY_ARGS=(.*)\n?$/.exec(before ?? '') ?? []
  if (text !== undefined) return text.split(' ')
  const why = `${siteOptionsFile} is not the file that the hub wrote; run the step StartSite or JoinMaster again`
  throw new StepError(why, { isFinal: true })
}

/** Returns words without some options and the value of each. */
export function withoutOptions(words: readonly string[], options: readonly string[]): string[] {
  return words.filter(
    (word, at) => !options.includes(word) && !options.includes(words[at - 1] ?? ''),
  )
}

/** Returns the file from which systemd takes a role's options, split at spaces. Throws if a word cannot be in it. */
export function envText(words: readonly string[], variable = 'SKERRY_ARGS'): string {
  const odd = words.find((word) => !/^[\w.,:/@=+-]+$/.test(word))
  if (odd !== undefined)
    throw new RangeError(`Cannot write an option with special characters: ${odd}`)
  return `${variable}=${words.join(' ')}\n`
}

export function optionWords(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).flat()
}
