/**
 * Bundles the program into a temporary directory, and prints for each role how many files and bytes it loads
 * from the bundle. Run: node dev/hack/bundle-sizes.ts
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { loadedChunks } from '../build/loaded-chunks.ts'

/** The files that commands import when they start a role. */
const roles = ['hub', 'site', 'node', 'agent-pod', 'agent-way']

const outputDirectory = await mkdtemp(join(tmpdir(), 'skerry-bundle-'))
try {
  await bundleProgram({ outputDirectory, version })
  for (const role of roles) {
    const texts = await loadedChunks(outputDirectory, role)
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    console.log(`${role}: ${texts.length} files, ${bytes} bytes`)
  }
} finally {
  await rm(outputDirectory, { recursive: true, force: true })
}
