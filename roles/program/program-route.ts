import type { Authorizer, Route, UserInfo } from '@skerry/apiserver'
import type { Clock, Logger } from '@skerry/base'
import { Downloads } from './downloads.ts'
import { askedPart, offeredPath, packagePrefix } from './package-paths.ts'
import { PackageShelf } from './package-shelf.ts'
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
 * Serve the program to machines that have nothing yet, and offline packages to those that have no mirrors: scripts, and
 * files that are named by their SHA-256. The program is packed when the first one asks, since most sites never add a machine.
 */
export function programRoutes(
  options: ProgramOptions,
  { clock, log, signal }: ProgramDeps,
): readonly Route[] {
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
  const { packages = [], ownPackages, role } = options
  const directories = [...packages, ...(ownPackages === undefined ? [] : [ownPackages.directory])]
  const packaging = { ...serving, shelf: new PackageShelf(directories, clock), ownPackages, role }
  return [
    {
      prefix: programPrefix,
      async serve(admitted) {
        const { serveProgram } = await import('./serve-program.ts')
        return serveProgram(admitted, serving)
      },
    },
    {
      prefix: packagePrefix,
      async serve(admitted) {
        const { servePackage } = await import('./serve-package.ts')
        return servePackage(admitted, packaging)
      },
    },
  ]
}

/**
 * Allows everybody to read the program and the libraries without which it does not start: they are not secrets, and a
 * machine that joins has no login yet. The rest of a package, such as images, is for bearers of a token of a line.
 */
export const programAuthorizer: Authorizer = {
  async authorize({ isResourceRequest, path, verb, user }) {
    const isRead = verb === 'get' || verb === 'head'
    const isAllowed = !isResourceRequest && isRead && mayRead(path, user)
    return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
  },
}

function mayRead(path: string, { groups }: UserInfo): boolean {
  if (path === scriptPath || sha256OfPath(path) !== undefined) return true
  if (path === offeredPath) return groups.includes('system:authenticated')
  const type = askedPart(path)?.part.type
  if (type === undefined) return false
  return type === 'script' || type === 'library' || groups.includes('system:bootstrappers')
}
