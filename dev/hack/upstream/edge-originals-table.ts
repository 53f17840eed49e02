import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CustomResourceDefinition } from '@skerry/api'
import { definitionOf, type DefinedKind } from '@skerry/edge-apps'
import { buildSuperedge } from './superedge-build.ts'

/** A system whose own controllers play the stories. */
export interface EdgeOriginal {
  /** Builds its program, and returns the path. Some need a clone of the system at this version. */
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

function kubeedgeJob(kind: string): DefinedKind {
  const names = { kind, plural: `${kind.toLowerCase()}s`, shortNames: [] }
  const shape = { spec: anything, status: anything, columns: [] }
  const place = { group: 'operations.kubeedge.io', version: 'v1alpha2', scope: 'Cluster' } as const
  return { ...place, ...names, ...shape }
}

export const edgeOriginals: Readonly<Record<string, EdgeOriginal>> = Object.freeze({
  superedge: {
    build: (definitions) => buildSuperedge(definitions),
    args: (kubeconfigPath) => [`--kubeconfig=${kubeconfigPath}`, '--leader-elect=false', '--v=2'],
    further: [],
    namespaces: ['edge-system'],
  },
  kubeedge: {
    build: (_definitions, clone) =>
      buildInClone('kubeedge', clone, './cloud/cmd/controllermanager'),
    args: (kubeconfigPath) => [
      `--kubeconfig=${kubeconfigPath}`,
      '--health-probe-bind-address=0',
      '--v=4',
    ],
    further: ['NodeUpgradeJob', 'ImagePrePullJob', 'ConfigUpdateJob'].map(kubeedgeJob),
    namespaces: ['kubeedge'],
  },
})

/** Its modules of Go's proxy lack parts of the system, so that it is built in a clone of its repository. */
async function buildInClone(
  name: string,
  clone: string | undefined,
  path: string,
): Promise<string> {
  if (clone === undefined) {
    throw new Error(
      `Cannot build ${name}: give a clone of its repository with --${name} <directory>`,
    )
  }
  const cache = resolve(import.meta.dirname, '../../../node_modules/.cache/upstream')
  await mkdir(cache, { recursive: true })
  const target = resolve(cache, name)
  execFileSync('nice', ['-n', '10', 'go', 'build', '-o', target, path], {
    cwd: clone,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return target
}

export function definitionsOf(kinds: readonly DefinedKind[]): CustomResourceDefinition[] {
  return kinds.map(definitionOf)
}
