import { execFileSync } from 'node:child_process'
import { mkdir, rename, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

export const karmadaVersion = '1.18.1'

const module = 'github.com/karmada-io/karmada'

/** The programs that can be built, with their directories in Karmada's module. */
const directories: Readonly<Record<string, string>> = Object.freeze({
  'karmada-aggregated-apiserver': 'aggregated-apiserver',
  'karmada-controller-manager': 'controller-manager',
  karmadactl: 'karmadactl',
  'karmada-scheduler': 'scheduler',
  'karmada-webhook': 'webhook',
  'karmada-search': 'karmada-search',
  'karmada-agent': 'agent',
})

export const karmadaPrograms: readonly string[] = Object.keys(directories)

/** The cache is below node_modules, so that it is never committed. */
export const defaultKarmadaCache = resolve(
  import.meta.dirname,
  `../../../node_modules/.cache/upstream/karmada-v${karmadaVersion}`,
)

/**
 * Builds missing ones of the named programs and returns their directory. Needs the Go toolchain and its
 * module proxy; the first one takes some minutes, and the others less.
 */
export async function buildKarmada(
  names: readonly string[] = karmadaPrograms,
  cache: string = defaultKarmadaCache,
): Promise<string> {
  const bin = join(cache, 'bin')
  await mkdir(bin, { recursive: true })
  for (const name of names) {
    const directory = directories[name]
    if (directory === undefined) {
      throw new RangeError(`Cannot build ${name}: known are ${karmadaPrograms.join(', ')}`)
    }
    const target = join(bin, name)
    if (await isThere(target)) continue
    console.error(`Building ${name} ${karmadaVersion}`)
    const flags = `-ldflags=-X ${module}/pkg/version.gitVersion=v${karmadaVersion} -s -w`
    const args = ['build', flags, '-o', `${target}.part`, `./cmd/${directory}`]
    go(karmadaSource(), args, ['ignore', 'ignore', 'inherit'])
    await rename(`${target}.part`, target)
  }
  return bin
}

/**
 * Returns the directory of Karmada's module: its sources, its definitions in charts, its manifests in
 * artifacts.
 */
export function karmadaSource(): string {
  const args = ['mod', 'download', '-json', `${module}@v${karmadaVersion}`]
  const text = go(import.meta.dirname, args, ['ignore', 'pipe', 'inherit'])
  // The command `go mod download -json` prints this type.
  const { Dir } = JSON.parse(text) as { Dir: string }
  return Dir
}

function go(
  directory: string,
  args: readonly string[],
  stdio: ['ignore', 'pipe' | 'ignore', 'inherit'],
): string {
  return execFileSync('nice', ['-n', '10', 'go', ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio,
  })
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
