import { join } from 'node:path'
import type { CustomResourceDefinition } from '@skerry/api'
import type { ClusterClient } from '@skerry/client'
import { definitionOf, type DefinedKind } from '@skerry/edge-apps'
import { buildGoProgram, moduleDirectory } from './go-program.ts'
import { prepareOpenyurt } from './prepare-openyurt.ts'
import { buildUnitController, buildSuperedge } from './superedge-build.ts'

/** A system whose own controllers play the stories. */
export interface EdgeOriginal {
  readonly programs: readonly OriginalProgram[]
  /** Kinds of other parts of the system, without which its programs end. */
  readonly further: readonly DefinedKind[]
  readonly namespaces: readonly string[]
  /** Makes the objects that its programs need. */
  readonly prepare?: (cluster: ClusterClient, signal: AbortSignal) => Promise<void>
}

export interface OriginalProgram {
  /** Builds it if it is not there, and returns the path. Some need a clone of the system's repository. */
  readonly build: (
    definitions: readonly CustomResourceDefinition[],
    clone: string | undefined,
  ) => Promise<string>
  readonly args: (kubeconfigPath: string) => readonly string[]
  /** Its further environment. The directory is for its files, and is removed afterwards. */
  readonly environment?: (directory: string) => Readonly<Record<string, string>>
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
    programs: [
      {
        build: (definitions) => buildSuperedge(definitions),
        args: (kubeconfigPath) => [
          `--kubeconfig=${kubeconfigPath}`,
          '--leader-elect=false',
          '--v=2',
        ],
      },
      {
        build: () => buildUnitController(),
        // It finds nodes by their labels when it looks at everything again, every 30 s unless it is told otherwise.
        args: (kubeconfigPath) => [
          `--kubeconfig=${kubeconfigPath}`,
          '--leader-elect=false',
          '--ensure-crd=false',
          '--sync-period=1',
          '--v=2',
        ],
      },
    ],
    further: [],
    namespaces: ['edge-system'],
  },
  kubeedge: {
    programs: [
      {
        build: (_definitions, clone) =>
          buildGoProgram({
            name: 'kubeedge-controllermanager',
            path: './cloud/cmd/controllermanager',
            source: () => cloneOf('KubeEdge', clone),
          }),
        args: (kubeconfigPath) => [
          `--kubeconfig=${kubeconfigPath}`,
          '--health-probe-bind-address=0',
          '--v=4',
        ],
      },
    ],
    further: kubeedgeJobs,
    namespaces: ['kubeedge'],
  },
  openyurt: {
    programs: [
      {
        build: () =>
          buildGoProgram({
            name: 'yurt-manager',
            path: './cmd/yurt-manager',
            source: () => moduleDirectory('github.com/openyurtio/openyurt', 'v1.7.0'),
          }),
        args: (kubeconfigPath) => [
          `--kubeconfig=${kubeconfigPath}`,
          '--controllers=nodepool,yurtappset',
          '--disable-independent-webhooks=*',
          '--leader-elect=false',
          '--metrics-addr=127.0.0.1:0',
          '--health-probe-addr=127.0.0.1:0',
        ],
        environment: (directory) => ({ WEBHOOK_CERT_DIR: join(directory, 'webhook-certificates') }),
      },
    ],
    further: [],
    namespaces: [],
    prepare: prepareOpenyurt,
  },
})

/** The module of Go's proxy lacks parts of some repositories. */
function cloneOf(system: string, clone: string | undefined): string {
  if (clone !== undefined) return clone
  throw new Error(`Cannot build ${system}: name a clone of its repository with --clone <directory>`)
}

export function definitionsOf(kinds: readonly DefinedKind[]): CustomResourceDefinition[] {
  return kinds.map(definitionOf)
}
