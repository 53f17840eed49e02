import type { JoinToken } from './join-token.ts'
import { nameWords, networkWords } from './node-words.ts'
import type { SiteInfo } from './site-info.ts'

/** The parts of a line for a machine with the program, in addition to its token. */
export interface NodeJoinLine {
  /** Further addresses, for a node that does not reach the first. */
  readonly others?: readonly string[]
  readonly info: SiteInfo | undefined
  /** Valid labels, none of whose characters means anything to a shell. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Returns the line for the shell of a machine that has the program: its node joins the token's site. */
export function nodeJoinLine(
  made: JoinToken,
  { others = [], info, labels = {} }: NodeJoinLine,
): string {
  const servers = [made.server, ...others].map((server) => `--server ${server}`).join(' ')
  const words = [...networkWords(info), ...labelWords(labels)].map((word) => ` ${word}`).join('')
  return `(umask 077 && echo ${made.token} > token) && skerry node ${servers} --token-file token --ca-hash ${made.caHash}${words}`
}

interface PackagedLine {
  /** The words for an offline package. If omitted, the machine uses its own mirrors. */
  readonly packaged?: readonly string[]
}

/** Returns the words for the line of a bare machine, which fetches the program from the site first. */
export function bareNodeWords(
  { server, caHash }: JoinToken,
  { info, labels = {}, packaged = [] }: Omit<NodeJoinLine, 'others'> & PackagedLine,
): string[] {
  const joining = ['node', '--server', server, '--ca-hash', caHash, ...nameWords(info)]
  return [...joining, ...packaged, ...networkWords(info), ...labelWords(labels)]
}

function labelWords(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`])
}
