/**
 * The launcher runs this when a source is newer than the bundle: it makes the bundle. It exits with 1,
 * silently, if it cannot, for example in a read-only checkout: the launcher then runs the sources.
 */
import { join } from 'node:path'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from './bundle.ts'

const outputDirectory = join(import.meta.dirname, '../..', 'node_modules', '.cache', 'bundle')
try {
  await bundleProgram({ outputDirectory, version })
} catch (error) {
  if (process.env['SKERRY_DEBUG']) console.error(error)
  process.exitCode = 1
}
