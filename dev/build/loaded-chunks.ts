import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns the texts of the chunk that a dynamic import of `name` loads, and of all chunks that it loads with it. */
export async function loadedChunks(bundle: string, name: string): Promise<string[]> {
  const directory = join(bundle, 'chunks')
  const named = new RegExp(`^${name}-\\w+\\.mjs$`)
  const entry = (await readdir(directory)).find((each) => named.test(each))
  if (entry === undefined) throw new Error(`Cannot read chunks: none is named ${name}`)
  const texts = new Map<string, string>()
  const due = [entry]
  for (let chunk = due.pop(); chunk !== undefined; chunk = due.pop()) {
    if (texts.has(chunk)) continue
    const text = await readFile(join(directory, chunk), 'utf8')
    texts.set(chunk, text)
    // The bundler esbuild writes static imports like this; dynamic ones are import("…").
    for (const [, next = ''] of text.matchAll(/(?:import|from)"\.\/([^"]+)"/g)) due.push(next)
  }
  return [...texts.values()]
}
