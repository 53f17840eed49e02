import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build, type BuildOptions, type OutputFile } from 'esbuild'
import { engineFlags } from '../../roles/runtime/engine-flags.ts'
import {
  inlineThread,
  joinLeaves,
  leaveOut,
  leaveOutJsonSchema,
  nameDirectory,
  openDoors,
  requireBuiltins,
} from './bundle-plugins.ts'
import { removeOldFiles, replaceFile, type WrittenFile } from './written-files.ts'

export interface BundleOptions {
  /**
   * The directory of the bundle; it is created if it does not exist. An existing bundle is replaced while
   * programs may be running from it.
   */
  outputDirectory: string
  version: string
}

const root = join(import.meta.dirname, '../..')

/** Some CommonJS packages require() Node's built-in modules. */
const requireBanner =
  "import{createRequire as __c}from'node:module';const require=__c(import.meta.url);"

/**
 * Bundles the program as a few plain JavaScript files. A role started from these keeps 50 MB less in memory
 * than from its sources: the engine holds on to every source it has read, and to the stripped result. Chunks
 * are named by their content and written before the entry, so that no program ever sees a half-written
 * bundle.
 */
export async function bundleProgram({ outputDirectory, version }: BundleOptions): Promise<string> {
  const startMs = Date.now()
  const { outputFiles: written } = await build({
    ...sharedOptions(version),
    outdir: outputDirectory,
    splitting: true,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    write: false,
  })
  const outputFiles = written.map(withoutUnusedRequire)
  const entry = join(outputDirectory, 'skerry.mjs')
  const chunks = outputFiles.filter((file) => file.path !== entry)
  const chunkDirectory = join(outputDirectory, 'chunks')
  await mkdir(chunkDirectory, { recursive: true })
  for (const file of chunks) await replaceFile(file, startMs)
  for (const file of outputFiles) if (file.path === entry) await replaceFile(file, startMs)
  await writeEngineFlags(join(outputDirectory, 'engine-flags'))
  await removeOldFiles(chunkDirectory, new Set(chunks.map(({ path }) => basename(path))), startMs)
  return entry
}

/** The whole program as one file, for the single executable. */
export async function bundleSingleFile(outputFile: string, version: string): Promise<void> {
  // A hub reads it in programs for machines of other architectures, which it cannot start.
  const footer = { js: `//skerry-version=${version};` }
  await build({ ...sharedOptions(version), footer, outfile: outputFile })
}

function sharedOptions(version: string): BuildOptions {
  const options = commonOptions(version)
  return { ...options, plugins: [inlineThread(options), ...(options.plugins ?? [])] }
}

function commonOptions(version: string): BuildOptions {
  return {
    absWorkingDir: root,
    entryPoints: [join(root, 'cmd', 'skerry.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    // Names stay as they are, for stack traces. Shortening them and restoring the names of functions costs a
    // call for each closure: a tenth of a small request.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'silent',

    plugins: [
      joinLeaves(join(root, 'packages/base')),
      openDoors(join(root, 'packages')),
      requireBuiltins,
      leaveOut,
      leaveOutJsonSchema,
      nameDirectory,
    ],
    define: { SKERRY_VERSION: JSON.stringify(version) },
    banner: { js: requireBanner },
  }
}

/** Removes the banner of a file that calls no require(): of some 300 chunks, only a few do. */
function withoutUnusedRequire({ path, contents }: OutputFile): WrittenFile {
  const code = Buffer.from(contents).toString('utf8').replace(`${requireBanner}\n`, '')
  return { path, contents: /\brequire\b/.test(code) ? contents : Buffer.from(code) }
}

/** Writes one file per role, for the launcher, which is a shell script. */
async function writeEngineFlags(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const [role, flags] of Object.entries(engineFlags)) {
    const contents = Buffer.from(`${flags.join(' ')}\n`)
    await replaceFile({ path: join(directory, role), contents }, Date.now())
  }
}
