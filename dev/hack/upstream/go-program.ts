import { execFileSync } from 'node:child_process'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Programs of others that are built here. It is below node_modules, so that nothing in it is ever committed. */
export const programCache: string = resolve(
  import.meta.dirname,
  '../../../node_modules/.cache/upstream',
)

export interface GoProgram {
  /** Its place in the cache. */
  readonly name: string
  /** The package of its main function, seen from the source. */
  readonly path: string
  /** Returns the directory of its source. Called only if the program must be built. */
  readonly source: () => string | Promise<string>
  /** Further flags of the build. Default: none. */
  readonly flags?: readonly string[]
}

/** Builds a program unless it is there, and returns its path. Needs the Go toolchain and its module proxy. */
export async function buildGoProgram({
  name,
  path,
  source,
  flags = [],
}: GoProgram): Promise<string> {
  const target = resolve(programCache, name)
  const isThere = await stat(target).then(
    () => true,
    () => false,
  )
  if (isThere) return target
  const directory = await source()
  await mkdir(dirname(target), { recursive: true })
  console.error(`Building ${name}`)
  go(directory, ['build', ...flags, '-o', target, path])
  return target
}

/** Returns the directory of a module's source, from Go's module proxy. Its files cannot be changed. */
export function moduleDirectory(module: string, version: string): string {
  const args = ['mod', 'download', '-json', `${module}@${version}`]
  // The command `go mod download -json` prints this type.
  const { Dir } = JSON.parse(go(import.meta.dirname, args)) as { Dir: string }
  return Dir
}

function go(directory: string, args: readonly string[]): string {
  return execFileSync('nice', ['-n', '10', 'go', ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
