import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findModule } from '../generate-api/upstream.ts'
import { defaultCache, upstreamVersion } from '../upstream/build-upstream.ts'

/** The programs built from the module of Kubernetes, and how. */
const programs = {
  'e2e.test': { args: ['test', '-c', '-vet=off'], package: 'k8s.io/kubernetes/test/e2e' },
  ginkgo: { args: ['build'], package: 'github.com/onsi/ginkgo/v2/ginkgo' },
  agnhost: { args: ['build'], package: 'k8s.io/kubernetes/test/images/agnhost' },
  nonewprivs: { args: ['build'], package: 'k8s.io/kubernetes/test/images/nonewprivs' },
  'sample-apiserver': { args: ['build'], package: 'k8s.io/sample-apiserver' },
} as const

export type SuiteProgram = keyof typeof programs

/** The directory for everything that the suite needs: next to what npm installs, never committed. */
export const suiteCache = join(defaultCache, 'conformance')

/** Builds missing ones of the named programs; resolves with their directory. */
export async function buildSuite(names: readonly SuiteProgram[]): Promise<string> {
  const bin = join(suiteCache, 'bin')
  await mkdir(bin, { recursive: true })
  for (const name of names) {
    const target = join(bin, name)
    if (existsSync(target)) continue
    const directory = await suiteModule()
    console.error(`Building ${name}`)
    const { args, package: source } = programs[name]
    // Without cgo a program runs in any image, whatever its C library.
    go(directory, [...args, `-ldflags=${versionFlags()}`, '-o', `${target}.part`, source])
    await rename(`${target}.part`, target)
  }
  return bin
}

/** The list of conformance tests, as the suite itself has it. */
export function conformanceList(): string {
  return join(findModule(`v${upstreamVersion}`), 'test/conformance/testdata/conformance.yaml')
}

/** A file of the suite's images, below test/images. */
export function imageSource(path: string): string {
  return join(findModule(`v${upstreamVersion}`), 'test/images', path)
}

function versionFlags(): string {
  const [major, minor] = upstreamVersion.split('.')
  const facts = { gitVersion: `v${upstreamVersion}`, gitMajor: major, gitMinor: minor }
  const defines = Object.entries(facts).map(
    ([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`,
  )
  return `-s -w ${defines.join(' ')}`
}

/** Requires Kubernetes with its own go.mod, whose staging directories are published modules. */
async function suiteModule(): Promise<string> {
  const directory = join(suiteCache, 'module')
  if (existsSync(join(directory, 'tidied'))) return directory
  await mkdir(directory, { recursive: true })
  const source = findModule(`v${upstreamVersion}`)
  const staging = `v0.${upstreamVersion.slice(2)}`
  const original = await readFile(join(source, 'go.mod'), 'utf8')
  const text = original
    .replace(/^module .*$/m, 'module suite')
    .replaceAll(/=> \.\/staging\/src\/(k8s\.io\/[a-z-]+)/g, `=> $1 ${staging}`)
  await writeFile(join(directory, 'go.mod'), text)
  await copyFile(join(source, 'go.sum'), join(directory, 'go.sum'))
  await chmod(join(directory, 'go.sum'), 0o644)
  const imports = Object.values(programs).map((program) => `import _ "${program.package}"`)
  await writeFile(
    join(directory, 'programs.go'),
    ['//go:build programs', '', 'package programs', '', ...imports, ''].join('\n'),
  )
  go(directory, ['mod', 'edit', '-require', `k8s.io/kubernetes@v${upstreamVersion}`])
  go(directory, ['mod', 'edit', '-require', `k8s.io/sample-apiserver@${staging}`])
  // The flag -e ignores unpublished test dependencies of the staging modules, which are not needed.
  go(directory, ['mod', 'tidy', '-e'])
  await writeFile(join(directory, 'tidied'), '')
  return directory
}

function go(directory: string, args: readonly string[]): void {
  execFileSync('nice', ['go', ...args], {
    cwd: directory,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
