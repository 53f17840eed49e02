import type { Authorizer, Route } from '@skerry/apiserver'
import type { Clock, Logger } from '@skerry/base'
import { Downloads } from './downloads.ts'
import type { ProgramOptions } from './program-for-machines.ts'
import { programPrefix, scriptPath, sha256OfPath } from './program-paths.ts'
import type { ProgramServing } from './serve-program.ts'
import type { ServedProgram } from './served-program.ts'

interface ProgramDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>
  readonly log: Logger
  /** Aborts when the role stops. */
  readonly signal: AbortSignal
}

/**
 * Serves the program to machines that have nothing yet: the script that installs it, and files that are named by their
 * SHA-256. It is packed when the first one asks, since most sites never add a machine.
 */
export function programRoute(options: ProgramOptions, { clock, log, signal }: ProgramDeps): Route {
  let packed: Promise<ServedProgram> | undefined
  const pack = async (): Promise<ServedProgram> => {
    try {
      const { packProgram } = await import('./served-program.ts')
      return await packProgram(options, signal)
    } catch (error) {
      packed = undefined
      throw error
    }
  }
  const serving: ProgramServing = {
    downloads: new Downloads(clock),
    program: () => (packed ??= pack()),
    log,
  }
  return {
    prefix: programPrefix,
    async serve(admitted) {
      const { serveProgram } = await import('./serve-program.ts')
      return serveProgram(admitted, serving)
    },
  }
}

/** Allows everybody to read these paths: the program is not a secret, and a machine that joins has no login yet. */
export const programAuthorizer: Authorizer = {
  async authorize({ isResourceRequest, path, verb }) {
    const isOurs = path === scriptPath || sha256OfPath(path) !== undefined
    const isRead = verb === 'get' || verb === 'head'
    const isAllowed = !isResourceRequest && isOurs && isRead
    return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
  },
}
