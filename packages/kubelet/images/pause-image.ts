import type { ContainerRuntime } from '../cri/container-runtime.ts'
import { importArchive, type ImportOptions } from './import-image.ts'
import { pauseProgram, type PauseArchitecture } from './pause-program.ts'

/** With localhost, the image is never looked up in a registry by accident. */
export const pauseImage = 'localhost/skerry/pause:1'

export const pauseArchitectures: Readonly<Record<string, PauseArchitecture>> = Object.freeze({
  x64: 'amd64',
  arm64: 'arm64',
})

/** Imports the sandbox image unless the node has it: no registry is needed to run a pod. */
export async function ensurePauseImage(
  runtime: ContainerRuntime,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<void> {
  if (await runtime.imageStatus(pauseImage, signal)) return
  const architecture = pauseArchitectures[process.arch]
  if (!architecture) {
    throw new RangeError(`Cannot build the pause image: no program for ${process.arch}`)
  }
  // Imported once in a node's life, so the code that writes archives is loaded only here.
  const { imageLayerOfFiles, ociArchive } = await import('./oci-archive.ts')
  const files = [{ path: 'pause', content: pauseProgram(architecture), mode: 0o755 }]
  const archive = ociArchive([
    {
      reference: pauseImage,
      architecture,
      layers: [await imageLayerOfFiles(files)],
      config: { Entrypoint: ['/pause'], User: '65535:65535' },
    },
  ])
  await importArchive(archive, options, signal)
}
