import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import {
  dialContainerd,
  importImage,
  pullCredentials,
  type ContainerRuntime,
  type RegistryAuth,
} from '@skerry/kubelet'
import { codeOf } from '../runtime/data-directory.ts'
import { containerdSocket } from './node-containerd.ts'

export interface ImageOptions {
  nodeDir: string
  runDir: string
}

export interface ImageLine {
  name: string
  id: string
  bytes: number
}

/** Imports an OCI layout or Docker archive into the node; resolves with its images. */
export async function importArchive(
  path: string,
  options: ImageOptions,
  signal: AbortSignal,
): Promise<string[]> {
  await requireFile(path)
  const socket = await requireSocket(options)
  try {
    return await importImage(
      path,
      { socket, rootDirectory: join(options.nodeDir, 'containerd') },
      signal,
    )
  } catch (error) {
    if (error instanceof ExpectedError) throw error
    const why = messageOf(error)
    throw new ExpectedError(
      `Cannot import ${path}: ${why}; is it an OCI layout or a "docker save" archive?`,
      exitCodes.failure,
      {
        cause: error,
      },
    )
  }
}

export async function listImages(options: ImageOptions, signal: AbortSignal): Promise<ImageLine[]> {
  await using runtime: ContainerRuntime = dialContainerd(await requireSocket(options))
  const images = await runtime.listImages(signal)
  return images
    .flatMap((image) =>
      (image.repoTags.length === 0 ? image.repoDigests.slice(0, 1) : image.repoTags).map(
        (name) => ({ name, id: image.id, bytes: image.size }),
      ),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

export interface PullOptions extends ImageOptions {
  /** The text of a docker configuration with credentials for registries. */
  readonly dockerConfig: string | undefined
}

export interface PulledImage {
  readonly name: string
  readonly id: string
}

/** Pulls images into the node before something needs them, one after another, and prints each. */
export async function pullImages(
  images: readonly string[],
  options: PullOptions,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<PulledImage[]> {
  const pulled: PulledImage[] = []
  for (const name of images) {
    const id = await pullImage(name, options, signal)
    pulled.push({ name, id })
    print(`${name}\t${id}`)
  }
  return pulled
}

async function pullImage(
  image: string,
  options: PullOptions,
  signal: AbortSignal,
): Promise<string> {
  await using runtime: ContainerRuntime = dialContainerd(await requireSocket(options))
  const tries = [...credentialsFor(image, options.dockerConfig), undefined]
  let problem: unknown
  for (const auth of tries) {
    try {
      return await runtime.pullImage(image, auth, signal)
    } catch (error) {
      signal.throwIfAborted()
      // The answer to the best credentials says most.
      problem ??= error
    }
  }
  const text = `Cannot pull ${image}: ${messageOf(problem)}`
  throw new ExpectedError(text, exitCodes.failure, { cause: problem })
}

function credentialsFor(image: string, dockerConfig: string | undefined): RegistryAuth[] {
  if (dockerConfig === undefined) return []
  const data = { '.dockerconfigjson': Buffer.from(dockerConfig).toString('base64') }
  return pullCredentials(image, [{ apiVersion: 'v1', kind: 'Secret', metadata: {}, data }])
}

async function requireFile(path: string): Promise<void> {
  try {
    await stat(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    throw new ExpectedError(`Cannot import ${path}: there is no such file`, exitCodes.usage, {
      cause: error,
    })
  }
}

async function requireSocket({ runDir }: ImageOptions): Promise<string> {
  const socket = containerdSocket(runDir)
  try {
    await stat(socket)
    return socket
  } catch (error) {
    throw new ExpectedError(
      `Cannot reach containerd at ${socket}: the node does not run; start it, or put archives into its preload directory`,
      exitCodes.unreachable,
      { cause: error },
    )
  }
}
