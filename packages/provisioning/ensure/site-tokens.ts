import { exitCodes } from '@skerry/base'
import { StepError, type JoinToken, type MachineContext } from '../contract/step.ts'
import type { RunResult, Shell } from '../contract/shell.ts'
import { provisioningBounds } from '../limits-table.ts'
import { places } from './commands.ts'

type Asking = Pick<MachineContext, 'print' | 'signal'>

interface AskedToken {
  /** The address at which the machine dials the master. */
  readonly server: string
  readonly kind: '--master' | '--witness'
}

/**
 * Makes a token on a master with which one node joins. Its machine may be hostile, so that the token is for its name alone:
 * under that of another node it would read the Secrets of its pods.
 */
export function createNodeToken(
  site: Shell,
  { server, nodeName }: { readonly server: string; readonly nodeName: string },
  context: Asking,
): Promise<JoinToken> {
  const words = ['--node-name', nodeName]
  const asked = { server, words, isNewOption: true, pattern: /^[a-z0-9]{6}\.[a-z0-9]{16}$/ }
  return create(site, asked, context)
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

interface TokenWish {
  readonly server: string
  readonly words: readonly string[]
  /** True: a master whose program is older than that of its hub does not know the words. */
  readonly isNewOption?: boolean
  readonly pattern: RegExp
}

async function create(
  site: Shell,
  { server, words, isNewOption = false, pattern }: TokenWish,
  { print, signal }: Asking,
): Promise<JoinToken> {
  const command = ['token', 'create', '-o', 'json', '--ttl', '1h', '--server', server]
  const directory = ['--data-dir', `${places.data}/site`]
  const run = (further: readonly string[]): Promise<RunResult> =>
    // The store of the site keeps what it has acknowledged.
    site.run([places.program, ...command, ...further, ...directory], {
      keepsFiles: true,
      timeoutMs: provisioningBounds.steps.tokenMsMax,
      signal,
    })
  const first = await run(words)
  const isOld = isNewOption && first.exitCode === exitCodes.usage
  const { exitCode, stdout, stderr } = isOld ? await run([]) : first
  if (stderr.trim() !== '') print(stderr)
  if (exitCode !== 0) {
    const why = stderr.trimEnd().split('\n').at(-1) || 'it printed nothing'
    throw new StepError(`skerry token create exited with ${exitCode}: ${why}`)
  }
  // The machine may print what it likes, so each field is checked.
  const made: unknown = parsed(stdout)
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
