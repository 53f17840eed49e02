import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import type { Architecture } from '@skerry/offline-package'
import { debianArchitecture } from './collect-debs.ts'

const execute = promisify(execFile)

/** A name with a registry and a tag: host/path:tag. */
const fullReference = /^[a-z0-9.-]+(:\d{1,5})?\/[a-z0-9][a-z0-9._/-]*:[\w][\w.-]{0,127}$/

/** Returns why a reference cannot be pulled, or undefined. */
export function whyNoReference(reference: string): string | undefined {
  if (fullReference.test(reference)) return undefined
  return `${reference} is not a full name with registry and tag, such as docker.io/library/nginx:1.27`
}

/** Pulls an image for an architecture into an archive, with skopeo. Rejects with an ExpectedError. */
export async function pullImage(
  reference: string,
  { architecture, path }: { readonly architecture: Architecture; readonly path: string },
  signal: AbortSignal,
): Promise<void> {
  const platform = ['--override-os', 'linux', '--override-arch', debianArchitecture(architecture)]
  const way = [`docker://${reference}`, `docker-archive:${path}:${reference}`]
  try {
    await execute('skopeo', ['copy', '--quiet', ...platform, ...way], { signal })
  } catch (error) {
    signal.throwIfAborted()
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const text = isMissing
      ? `Cannot pull ${reference}: this system has no skopeo; install it, or give an archive with --image`
      : `Cannot pull ${reference}: ${messageOf(error)}`
    const code = isMissing ? exitCodes.missingDependency : exitCodes.failure
    throw new ExpectedError(text, code, { cause: error })
  }
}
