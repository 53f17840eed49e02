import { join } from 'node:path'
import { buildGoProgram, moduleDirectory, programCache } from '../upstream/go-program.ts'

/** The programs of github.com/kubernetes-csi, as they are released. */
const programs = {
  hostpathplugin: {
    repository: 'csi-driver-host-path',
    module: 'csi-driver-host-path',
    version: 'v1.17.1',
    path: './cmd/hostpathplugin',
  },
  'node-driver-registrar': {
    repository: 'node-driver-registrar',
    module: 'node-driver-registrar',
    version: 'v2.17.0',
    path: './cmd/csi-node-driver-registrar',
  },
  'csi-provisioner': {
    repository: 'external-provisioner',
    module: 'external-provisioner/v6',
    version: 'v6.4.0',
    path: './cmd/csi-provisioner',
  },
  'csi-attacher': {
    repository: 'external-attacher',
    module: 'external-attacher/v4',
    version: 'v4.13.0',
    path: './cmd/csi-attacher',
  },
  'csi-resizer': {
    repository: 'external-resizer',
    module: 'external-resizer/v2',
    version: 'v2.3.0',
    path: './cmd/csi-resizer',
  },
  'csi-snapshotter': {
    repository: 'external-snapshotter',
    module: 'external-snapshotter/v8',
    version: 'v8.7.0',
    path: './cmd/csi-snapshotter',
  },
  'snapshot-controller': {
    repository: 'external-snapshotter',
    module: 'external-snapshotter/v8',
    version: 'v8.7.0',
    path: './cmd/snapshot-controller',
  },
} as const

export type CsiProgram = keyof typeof programs

/** The directory with the programs. */
export const csiPrograms: string = join(programCache, 'csi')

/**
 * Builds those that are missing. A directory of clones of these repositories takes the place of Go's module proxy for
 * those that it has: some proxies lack the two that run on nodes.
 */
export async function buildCsiPrograms(
  names: readonly CsiProgram[],
  clones: string | undefined,
  hasClone: (directory: string) => boolean,
): Promise<void> {
  for (const name of names) {
    const { repository, module, version, path } = programs[name]
    const clone = clones === undefined ? undefined : join(clones, repository)
    const source = (): string =>
      clone !== undefined && hasClone(clone)
        ? clone
        : moduleDirectory(`github.com/kubernetes-csi/${module}`, version)
    // The driver refuses to serve without its version.
    const flags = ['-ldflags', `-X main.version=${version}`]
    await buildGoProgram({ name: join('csi', name), path, source, flags })
  }
}

/** Returns the directory of the definitions of snapshots. */
export function snapshotDefinitions(): string {
  const module = 'github.com/kubernetes-csi/external-snapshotter/client/v8'
  return join(moduleDirectory(module, 'v8.6.0'), 'config', 'crd')
}
