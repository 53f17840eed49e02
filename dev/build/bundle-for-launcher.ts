/**
 * The launcher runs this when a source is newer than the bundle: it makes the bundle, with the pages of the web console. It exits with 1 if it
 * cannot: the launcher then runs the sources. In a read-only checkout it says nothing about it.
 */
import { join } from 'node:path'
import { messageOf } from '@skerry/base'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from './bundle.ts'
import { buildConsole } from './console.ts'

const outputDirectory = join(import.meta.dirname, '../..', 'node_modules', '.cache', 'bundle')
try {
  // The pages come first: the launcher compares sources with the program's file.
  await buildConsole({ outputDirectory, compression: 'fast' })
  await bundleProgram({ outputDirectory, version })
} catch (error) {
  if (!isReadOnly(error)) {
    console.error(`skerry: the sources run, because making the bundle failed: ${messageOf(error)}`)
  }
  process.exitCode = 1
}

function isReadOnly(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EROFS' || code === 'EACCES' || code === 'EPERM'
}
