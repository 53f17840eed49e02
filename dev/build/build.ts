import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { BuildRequest } from '../../cmd/commands/developer-commands.ts'
import { version } from '../../roles/runtime/version.ts'
import { buildAgentImage } from './agent-image.ts'
import { bundleProgram, bundleSingleFile } from './bundle.ts'
import { buildConsole } from './console.ts'

/** Resolves the paths of what was built. */
export async function buildProgram(options: BuildRequest): Promise<string[]> {
  const outputDirectory = resolve(options.outputDir)
  await rm(join(outputDirectory, 'chunks'), { recursive: true, force: true })
  const pages = await buildConsole({ outputDirectory, compression: 'best' })
  const built = [await bundleProgram({ outputDirectory, version })]
  if (options.executable) {
    const path = join(outputDirectory, `skerry-linux-${process.arch}`)
    await buildExecutable(path, assetsOf(pages, outputDirectory))
    built.push(path)
    if (options.agentImage !== undefined) {
      built.push(await buildAgentImage({ executable: path, output: resolve(options.agentImage) }))
    }
  } else if (options.agentImage !== undefined) {
    throw new ExpectedError(
      'Cannot build image: it needs the executable; leave out --no-executable',
      exitCodes.usage,
    )
  }
  return built
}

/** Names the files of the web console as the program asks for them: by their paths from the bundle. */
function assetsOf(names: readonly string[], directory: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, join(directory, name)]))
}

/**
 * Builds Node with the program and the pages inside, by Node's own means (node:single-executable-applications). The option
 * --node-options= sets engine flags at each start, which is how `up` bounds each role's heap. A Node of another
 * architecture must have the version of this one, and starts without compiled code.
 */
export async function buildExecutable(
  output: string,
  assets: Readonly<Record<string, string>>,
  foreignNode?: string,
): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-build-'))
  try {
    const main = join(scratch, 'skerry.mjs')
    await bundleSingleFile(main, version)
    const config = join(scratch, 'executable.json')
    await mkdir(resolve(output, '..'), { recursive: true })
    await writeFile(
      config,
      JSON.stringify({
        main,
        mainFormat: 'module',
        output,
        disableExperimentalSEAWarning: true,
        useCodeCache: foreignNode === undefined,
        ...(foreignNode === undefined ? {} : { executable: foreignNode }),
        assets,
        execArgv: ['--disable-warning=ExperimentalWarning'],
        execArgvExtension: 'cli',
      }),
    )
    await promisify(execFile)(process.execPath, [`--build-sea=${config}`])
  } finally {
    await rm(scratch, { recursive: true })
  }
}
