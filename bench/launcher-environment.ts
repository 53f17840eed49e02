import { readFile } from 'node:fs/promises'

/** What the launcher sets for the programs that it starts, as it says itself. */
export async function launcherEnvironment(): Promise<Record<string, string>> {
  const text = await readFile(new URL('../skerry', import.meta.url), 'utf8')
  const settings = [...text.matchAll(/\b([A-Z_]+)="\$\{\1:-(\d+)\}"/g)]
  if (settings.length === 0) throw new Error('Cannot read the launcher: it sets no numbers')
  return Object.fromEntries(settings.map(([, name = '', value = '']) => [name, value]))
}
