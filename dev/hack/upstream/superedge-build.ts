import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CustomResourceDefinition } from '@skerry/api'
import { buildGoProgram, moduleDirectory, programCache } from './go-program.ts'

const version = '0.9.0'
const module = 'github.com/superedge/superedge'
const place = `superedge-v${version}`

/**
 * Builds SuperEdge's controller of grids unless it is there, and returns its path. Its own definitions of grids have no
 * status, so that it cannot do its work with them: it is built to read these ones instead. Needs the Go toolchain and its
 * module proxy.
 */
export async function buildSuperedge(
  definitions: readonly CustomResourceDefinition[],
): Promise<string> {
  const manifests = join(programCache, place, 'manifests')
  await mkdir(manifests, { recursive: true })
  for (const definition of definitions) {
    const { group, names } = definition.spec
    const path = join(manifests, `${group}_${names.plural}.yaml`)
    await writeFile(path, JSON.stringify(definition))
  }
  const source = join(programCache, place, 'source')
  const program = await buildGoProgram({
    name: `${place}/application-grid-controller`,
    path: './cmd/application-grid-controller',
    source: () => copyReading(manifests, source),
  })
  await rm(source, { recursive: true, force: true })
  return program
}

/** Builds SuperEdge's controller of units and groups of nodes, which takes the definitions that are there. */
export function buildUnitController(): Promise<string> {
  return buildGoProgram({
    name: `${place}/site-manager`,
    path: './cmd/site-manager',
    source: () => moduleDirectory(module, `v${version}`),
  })
}

/** Makes a copy whose program reads the definitions in this directory: files of Go's cache of modules cannot be replaced. */
async function copyReading(manifests: string, source: string): Promise<string> {
  await cp(moduleDirectory(module, `v${version}`), source, { recursive: true })
  const file = join(source, 'pkg/application-grid-controller/prepare/crd.go')
  const text = await readFile(file, 'utf8')
  await rm(file, { force: true })
  await writeFile(
    file,
    text.replaceAll('/etc/superedge/application-grid-controller/manifests', manifests),
  )
  return source
}
