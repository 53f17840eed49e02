import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundleProgram } from './bundle.ts'
import { version } from './version.ts'

/** A name that the bundle keeps of what @peculiar/x509 needs: 9 MB in memory with what it brings along. */
const x509Library = 'reflect-metadata/Reflect.js'

test('agents and nodes, which mostly wait, are without the X.509 library', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-bundle-'))
  try {
    await bundleProgram({ outputDirectory: directory, version })
    const chunks = join(directory, 'chunks')
    const names = await readdir(chunks)
    const holdsLibrary = async (role: string): Promise<boolean> => {
      const entry = names.find((name) => new RegExp(`^${role}-\\w+\\.mjs$`).test(name)) ?? ''
      const texts = await loadedWith(chunks, entry)
      return texts.some((text) => text.includes(x509Library))
    }
    assert.ok(await holdsLibrary('hub'), 'it signs certificates')
    for (const role of ['agent-pod', 'agent-way', 'node'])
      assert.equal(await holdsLibrary(role), false, role)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

/** The text of a chunk and of all that are loaded with it. */
async function loadedWith(chunks: string, entry: string): Promise<string[]> {
  const texts = new Map<string, string>()
  const due = [entry]
  for (let name = due.pop(); name !== undefined; name = due.pop()) {
    if (texts.has(name)) continue
    const text = await readFile(join(chunks, name), 'utf8')
    texts.set(name, text)
    // As esbuild writes what is loaded at once; what is loaded later is import("…").
    for (const [, next = ''] of text.matchAll(/(?:import|from)"\.\/([^"]+)"/g)) due.push(next)
  }
  return [...texts.values()]
}
