import { execFileSync } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { findModule } from '../generate-api/upstream.ts'

export const upstreamVersion = '1.36.3'

/** Kubernetes 1.36's own choice of etcd follows from its go.mod; the server is a separate module. */
const etcdVersion = 'v3.7.3'

/** The programs that can be built, with their Go packages. */
const packages: Readonly<Record<string, string>> = Object.freeze({
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  'e2e.test': 'k8s.io/kubernetes/test/e2e',
  etcd: 'go.etcd.io/etcd/server/v3',
})

export const upstreamPrograms: readonly string[] = Object.keys(packages)

/** The cache is below node_modules, so that it is never committed. */
export const defaultCache = cacheOf(upstreamVersion)

function cacheOf(version: string): string {
  return resolve(import.meta.dirname, `../../../node_modules/.cache/upstream/v${version}`)
}

/** Builds programs of another version of Kubernetes and returns their directory. */
export function buildKubernetes(version: string, names: readonly string[]): Promise<string> {
  return build({ version, cache: cacheOf(version) }, names)
}

interface UpstreamBuild {
  /** The version of Kubernetes, e.g. 1.36.3. */
  readonly version: string
  readonly cache: string
}

/**
 * Builds missing ones of the named programs and returns their directory. Needs the Go toolchain and its
 * module proxy; the first time takes some minutes for each program.
 */
export function buildUpstream(
  names: readonly string[],
  cache: string = defaultCache,
): Promise<string> {
  return build({ version: upstreamVersion, cache }, names)
}

async function build(wanted: UpstreamBuild, names: readonly string[]): Promise<string> {
  const { cache, version } = wanted
  const bin = join(cache, 'bin')
  await mkdir(bin, { recursive: true })
  for (const name of names) {
    const target = join(bin, name)
    if (await isThere(target)) continue
    const source = await (name === 'etcd' ? etcdModule(cache) : kubernetesModule(wanted))
    console.error(`Building ${name} in ${source}`)
    go(source, ['build', ...buildFlags(name, version), '-o', `${target}.part`, packageOf(name)])
    await rename(`${target}.part`, target)
  }
  return bin
}

function packageOf(name: string): string {
  const found = packages[name]
  if (found === undefined) {
    throw new RangeError(`Cannot build ${name}: known are ${upstreamPrograms.join(', ')}`)
  }
  return found
}

/** Sets the version that the programs report; without it they report v0.0.0 and refuse each other. */
function buildFlags(name: string, version: string): string[] {
  if (name === 'etcd') return ['-ldflags=-s -w']
  const [major = '', minor = ''] = version.split('.')
  const settings = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor }
  const defines = Object.entries(settings).map(
    ([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`,
  )
  return [`-ldflags=${defines.join(' ')} -s -w`]
}

/**
 * Creates a module of our own that requires Kubernetes. Its go.mod is Kubernetes' own, with the staging
 * directories, which the published module lacks, replaced by the modules that are published from them.
 */
async function kubernetesModule({ cache, version }: UpstreamBuild): Promise<string> {
  const directory = join(cache, 'kubernetes')
  if (await isThere(join(directory, 'tidied'))) return directory
  const source = findModule(`v${version}`)
  await mkdir(directory, { recursive: true })
  await copyFile(join(source, 'go.sum'), join(directory, 'go.sum'))
  await chmod(join(directory, 'go.sum'), 0o644)
  const staging = `v0.${version.slice(2)}`
  const original = await readFile(join(source, 'go.mod'), 'utf8')
  const text = original
    .replace(/^module .*$/m, 'module upstream')
    .replaceAll(/=> \.\/staging\/src\/(k8s\.io\/[a-z-]+)/g, `=> $1 ${staging}`)
  await writeFile(join(directory, 'go.mod'), text)
  go(directory, ['mod', 'edit', '-require', `k8s.io/kubernetes@v${version}`])
  const wanted = Object.values(packages).filter((name) => name.startsWith('k8s.io/'))
  await writeFile(join(directory, 'programs.go'), importing(wanted))
  // The flag -e ignores unpublished test dependencies of the staging modules, which are not needed.
  go(directory, ['mod', 'tidy', '-e'])
  await writeFile(join(directory, 'tidied'), '')
  return directory
}

async function etcdModule(cache: string): Promise<string> {
  const directory = join(cache, 'etcd')
  if (await isThere(join(directory, 'tidied'))) return directory
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'go.mod'), 'module upstream\n\ngo 1.26.0\n')
  await writeFile(join(directory, 'programs.go'), importing([packageOf('etcd')]))
  go(directory, ['get', `${packageOf('etcd')}@${etcdVersion}`])
  go(directory, ['mod', 'tidy', '-e'])
  await writeFile(join(directory, 'tidied'), '')
  return directory
}

/** Keeps `go mod tidy` from dropping modules that are only built, never compiled in. */
function importing(names: readonly string[]): string {
  const lines = names.map((name) => `import _ "${name}"`)
  return ['//go:build programs', '', 'package programs', '', ...lines, ''].join('\n')
}

function go(directory: string, args: readonly string[]): void {
  execFileSync('nice', ['go', ...args], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] })
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
