import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { LayerFile } from '@skerry/kubelet'
import { layerOfFiles, writeOciArchive } from '@skerry/testing'
import { agentImageReference } from '../../roles/runtime/version.ts'

const userId = 65_532

export interface AgentImageOptions {
  /** The single executable of the program, for this machine's architecture. */
  executable: string
  /** The path of the archive. */
  output: string
}

/**
 * An image with nothing in it but the program and the shared libraries that it was linked with: an
 * OCI archive, which `skerry image import`, `ctr images import` or a registry's client takes.
 */
export async function buildAgentImage({ executable, output }: AgentImageOptions): Promise<string> {
  const libraries = await sharedLibraries(executable)
  const files: LayerFile[] = [
    { path: 'etc' },
    { path: 'etc/passwd', content: `agent:x:${userId}:${userId}::/:/none\n` },
    { path: 'etc/group', content: `agent:x:${userId}:\n` },
    { path: 'tmp', mode: 0o1777 },
    ...directoriesOf(libraries).map((path) => ({ path })),
    ...(await Promise.all(libraries.map((path) => fileOf(path.slice(1), path)))),
    await fileOf('skerry', executable),
  ]
  await writeOciArchive(output, {
    reference: agentImageReference,
    layers: [await layerOfFiles(files)],
    config: { Entrypoint: ['/skerry'], User: `${userId}:${userId}`, WorkingDir: '/' },
  })
  return output
}

async function fileOf(path: string, source: string): Promise<LayerFile> {
  return { path, content: await readFile(source), mode: 0o755 }
}

/**
 * Returns the absolute paths of the libraries, including the program's loader. Node links glibc and libstdc++
 * dynamically.
 */
async function sharedLibraries(executable: string): Promise<string[]> {
  let stdout: string
  try {
    ;({ stdout } = await promisify(execFile)('ldd', [executable]))
  } catch (cause) {
    throw new ExpectedError(
      `Cannot build image: ldd does not list the libraries of ${executable}; install libc-bin`,
      exitCodes.missingDependency,
      { cause },
    )
  }
  return [
    ...new Set([...stdout.matchAll(/(?:=>\s+|^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path)),
  ]
}

function directoriesOf(paths: readonly string[]): string[] {
  const all = paths.flatMap((path) => {
    const parts = path.split('/').slice(1, -1)
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  })
  return [...new Set(all)].toSorted()
}
