import { execFileSync } from 'node:child_process'
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { CustomResourceDefinition } from '@skerry/api'

const superedgeVersion = '0.9.0'
const module = 'github.com/superedge/superedge'
const program = 'application-grid-controller'

/** The cache is below node_modules, so that it is never committed. */
const cache = resolve(
  import.meta.dirname,
  `../../../node_modules/.cache/upstream/superedge-v${superedgeVersion}`,
)

/**
 * Builds SuperEdge's controller of grids unless it is there, and returns its path. Its own definitions of grids have no
 * status, so that it cannot do its work with them: it is built to read these ones instead. Needs the Go toolchain and its
 * module proxy.
 */
export async function buildSuperedge(
  definitions: readonly CustomResourceDefinition[],
): Promise<string> {
  const manifests = join(cache, 'manifests')
  await mkdir(manifests, { recursive: true })
  for (const definition of definitions) {
    const { group, names } = definition.spec
    const path = join(manifests, `${group}_${names.plural}.yaml`)
    await writeFile(path, JSON.stringify(definition))
  }
  const target = join(cache, program)
  const isThere = await stat(target).then(
    () => true,
    () => false,
  )
  if (isThere) return target
  // A copy: files of Go's cache of modules cannot be replaced.
  const source = join(cache, 'source')
  await cp(sourceDirectory(), source, { recursive: true })
  const file = join(source, 'pkg/application-grid-controller/prepare/crd.go')
  const text = await readFile(file, 'utf8')
  await rm(file, { force: true })
  await writeFile(
    file,
    text.replaceAll('/etc/superedge/application-grid-controller/manifests', manifests),
  )
  console.error(`Building ${program} ${superedgeVersion}`)
  go(source, ['build', '-o', target, `./cmd/${program}`])
  await rm(source, { recursive: true, force: true })
  return target
}

function sourceDirectory(): string {
  const args = ['mod', 'download', '-json', `${module}@v${superedgeVersion}`]
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
