import { StepError, type JoinToken, type MachineContext } from '../contract/step.ts'
import type { Shell } from '../contract/shell.ts'
import { provisioningBounds } from '../limits-table.ts'
import { must, places } from './commands.ts'

type Asking = Pick<MachineContext, 'print' | 'signal'>

interface AskedToken {
  /** The address at which the machine dials the master. */
  readonly server: string
  readonly kind: '--master' | '--witness'
}

/** Makes a token on a master with which one node joins. */
export function createNodeToken(site: Shell, server: string, context: Asking): Promise<JoinToken> {
  return create(site, { server, words: [], pattern: /^[a-z0-9]{6}\.[a-z0-9]{16}$/ }, context)
}

/** Makes a token on a master with which a further master or a witness joins. */
export function createMasterToken(
  site: Shell,
  { server, kind }: AskedToken,
  context: Asking,
): Promise<JoinToken> {
  const pattern = /^[a-z0-9]{6}\.[a-z0-9]{16}\.[\w-]{43}$/
  return create(site, { server, words: [kind], pattern }, context)
}

async function create(
  site: Shell,
  { server, words, pattern }: { server: string; words: readonly string[]; pattern: RegExp },
  context: Asking,
): Promise<JoinToken> {
  const command = ['token', 'create', '-o', 'json', '--ttl', '1h', '--server', server, ...words]
  const text = await must(
    { ...context, shell: site },
    [places.program, ...command, '--data-dir', `${places.data}/site`],
    // The store of the site keeps what it has acknowledged.
    { isQuiet: true, keepsFiles: true, timeoutMs: provisioningBounds.steps.tokenMsMax },
  )
  // The machine may print what it likes, so each field is checked.
  const made: unknown = parsed(text)
  if (typeof made === 'object' && made !== null && 'token' in made && 'caHash' in made) {
    const { token, caHash } = made
    const isToken = typeof token === 'string' && pattern.test(token)
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
