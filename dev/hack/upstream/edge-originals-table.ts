import { execFileSync } from 'node:child_process'
import { mkdir, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CustomResourceDefinition } from '@skerry/api'
import { definitionOf, type DefinedKind } from '@skerry/edge-apps'
import { buildSuperedge } from './superedge-build.ts'

/** A system whose own controllers play the stories. */
export interface EdgeOriginal {
  /** Builds its program if it is not there, and returns the path. Some need a clone of the system's repository. */
  readonly build: (
    definitions: readonly CustomResourceDefinition[],
    clone: string | undefined,
  ) => Promise<string>
  readonly args: (kubeconfigPath: string) => readonly string[]
  /** Kinds of other parts of the system, without which its program ends. */
  readonly further: readonly DefinedKind[]
  readonly namespaces: readonly string[]
}

const anything = Object.freeze({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })

const kubeedgeJobs = ['NodeUpgradeJob', 'ImagePrePullJob', 'ConfigUpdateJob'].map(
  (kind): DefinedKind => ({
    resource: {
      group: 'operations.kubeedge.io',
      version: 'v1alpha2',
      kind,
      resource: `${kind.toLowerCase()}s`,
      isNamespaced: false,
    },
    spec: anything,
    status: anything,
    columns: [],
  }),
)

export const edgeOriginals: Readonly<Record<string, EdgeOriginal>> = Object.freeze({
  superedge: {
    build: (definitions) => buildSuperedge(definitions),
    args: (kubeconfigPath) => [`--kubeconfig=${kubeconfigPath}`, '--leader-elect=false', '--v=2'],
    further: [],
    namespaces: ['edge-system'],
  },
  kubeedge: {
    build: (_definitions, clone) =>
      buildInClone('kubeedge-controllermanager', clone, './cloud/cmd/controllermanager'),
    args: (kubeconfigPath) => [
      `--kubeconfig=${kubeconfigPath}`,
      '--health-probe-bind-address=0',
      '--v=4',
    ],
    further: kubeedgeJobs,
    namespaces: ['kubeedge'],
  },
})

/** Builds from a clone, because the module of Go's proxy lacks parts of the repository. */
async function buildInClone(
  name: string,
  clone: string | undefined,
  path: string,
): Promise<string> {
  const cache = resolve(import.meta.dirname, '../../../node_modules/.cache/upstream')
  const target = resolve(cache, name)
  const isThere = await stat(target).then(
    () => true,
    () => false,
  )
  if (isThere) return target
  if (clone === undefined) {
    throw new Error(`Cannot build ${name}: name a clone of its repository with --clone <directory>`)
  }
  await mkdir(cache, { recursive: true })
  execFileSync('nice', ['-n', '10', 'go', 'build', '-o', target, path], {
    cwd: clone,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return target
}

export function definitionsOf(kinds: readonly DefinedKind[]): CustomResourceDefinition[] {
  return kinds.map(definitionOf)
}
