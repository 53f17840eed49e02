import { readFile } from 'node:fs/promises'

/** Returns the environment that the launcher sets for this role, as it states it. */
export async function launcherEnvironment(role: string): Promise<Record<string, string>> {
  const text = await readFile(new URL('../../skerry', import.meta.url), 'utf8')
  const lines = text.split('\n')
  const ofAll = lines.filter((line) => line.startsWith('export '))
  const ofRole = lines.find((line) => line.startsWith(`  ${role}) export `))
  const ofOthers = lines.find((line) => line.startsWith('  *) export '))
  const settings = [...ofAll, ofRole ?? ofOthers ?? ''].flatMap((line) => [
    ...line.matchAll(/\b([A-Z_]+)="\$\{\1:-(\d+)\}"/g),
  ])
  if (settings.length === 0) throw new Error('Cannot read the launcher: it sets no numbers')
  return Object.fromEntries(settings.map(([, name = '', value = '']) => [name, value]))
}
