import { ExpectedError } from '@skerry/base'
import type {
  BlobRef,
  MachineShare,
  OpenedPackage,
  PackagedProgram,
  PackagePlaces,
} from '@skerry/offline-package'
import {
  StepError,
  type EdgeCluster,
  type MachinePackage,
  type MachineSystem,
} from '@skerry/provisioning'
import { listPackages } from '../../program/package-shelf.ts'
import { bundleLauncher, executableLauncher } from '../../program/program-for-machines.ts'

type PackageSource = NonNullable<EdgeCluster['spec']['package']>

/**
 * Finds an offline package by its digest and returns the parts for a machine. It looks again each time, so a package may
 * be added while the hub runs. Rejects with a StepError unless the key has signed it and it has these parts.
 */
export async function packageForMachine(
  { digest, publicKey }: PackageSource,
  machine: MachineSystem,
  directories: readonly string[],
): Promise<MachinePackage> {
  const packages = await import('@skerry/offline-package')
  const places = (await listPackages(directories)).get(digest)
  if (places === undefined) throw missing(digest)
  try {
    const opened = await packages.openPackage(places, publicKey)
    // Somebody may have replaced it after it was found.
    if (opened.digest !== digest) throw missing(digest)
    const share = packages.shareOf(opened.manifest, machine)
    return { ...opened.signed, ...filesOf(opened, share, packages.blobPath) }
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error
    throw new StepError(error.message, { isFinal: true })
  }
}

function missing(digest: string): StepError {
  const text = `the hub has no package ${digest}: start it with --package <directory>, or put the package into that directory`
  return new StepError(text, { isFinal: true })
}

function filesOf(
  { places }: OpenedPackage,
  { program, release, images, etcd }: MachineShare,
  pathOf: (places: PackagePlaces, blob: BlobRef) => string,
): Omit<MachinePackage, 'manifest' | 'signature'> {
  const file = (blob: BlobRef) => ({ from: pathOf(places, blob), ...blob })
  const named = ({ name, version, file: blob }: (typeof release.debs)[number]) => {
    return { name, version, file: file(blob) }
  }
  return {
    program: programOf(program, file),
    debs: release.debs.map(named),
    ...(etcd === undefined ? {} : { etcd: etcd.debs.map(named) }),
    images: images.flatMap(({ content, blobs }) => [content, ...blobs]).map(file),
  }
}

/** Returns the program as one without a package is laid out, so that both share the engine. */
function programOf(
  { version, form, content, engine }: PackagedProgram,
  file: (blob: BlobRef) => MachinePackage['images'][number],
): MachinePackage['program'] {
  // The digest makes the name unique; a version alone would be overwritten while it runs.
  const name = `${version.replace(/-[0-9a-f]{12}$/, '')}-${content.sha256.slice(0, 12)}`
  if (form === 'executable' || engine === undefined) {
    const files = [{ file: file(content), to: 'skerry' }]
    return { version: name, files, launcher: executableLauncher }
  }
  const own = `node-${engine.version}-${engine.file.sha256.slice(0, 12)}`
  return {
    version: name,
    files: [{ file: file(engine.file), to: `../${own}` }],
    archive: file(content),
    launcher: bundleLauncher(own),
  }
}
