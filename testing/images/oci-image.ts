import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import type { ImageLayer, ImageOptions, LayerFile } from '@skerry/kubelet'

// The kubelet's code is loaded only by tests that make images.

export async function layerOfFiles(files: readonly LayerFile[]): Promise<ImageLayer> {
  const { imageLayerOfFiles } = await import('@skerry/kubelet')
  return imageLayerOfFiles(files)
}

/** The directory's tree as one layer, owned by root, with time stamps of zero so that equal trees give equal bytes. */
export async function layerOfDirectory(directory: string): Promise<ImageLayer> {
  const flags = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  const child = spawn('tar', ['-C', directory, ...flags, '-c', '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', resolve)
  })
  const chunks = await Array.fromAsync(child.stdout)
  const code = await ended
  if (code !== 0) throw new Error(`Cannot archive ${directory}: tar ended with ${code}`)
  const { imageLayerOfTar } = await import('@skerry/kubelet')
  return imageLayerOfTar(Buffer.concat(chunks))
}

/** Writes an OCI image layout as a tar that containerd, Docker and podman import. */
export async function writeOciArchive(path: string, options: ImageOptions): Promise<void> {
  await writeOciArchiveOfMany(path, [options])
}

/** Writes several images into one archive, with shared layers only once. */
export async function writeOciArchiveOfMany(
  path: string,
  images: readonly ImageOptions[],
): Promise<void> {
  const { ociArchive } = await import('@skerry/kubelet')
  await writeFile(path, ociArchive(images))
}
