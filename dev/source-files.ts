import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/**
 * Returns every file of the repository in this tree, by its path from the root, except for those that
 * .gitignore names. It does not use Git, which neither a machine nor an unpacked archive need have.
 */
export function sourceFiles(): string[] {
  const isIgnored = readIgnored()
  const below = (directory: string): string[] =>
    readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`
      if (entry.name === '.git' || isIgnored(path, entry.isDirectory())) return []
      return entry.isDirectory() ? below(path) : [path]
    })
  return below('').toSorted()
}

/** Reads the patterns that our .gitignore has: `name/`, `path/of/directory/` and `*.suffix`. */
function readIgnored(): (path: string, isDirectory: boolean) => boolean {
  const patterns = readFileSync(join(root, '.gitignore'), 'utf8').split('\n').filter(Boolean)
  for (const pattern of patterns) {
    if (!/^(\*\.\w+|[\w./-]+\/)$/.test(pattern)) {
      throw new Error(`Cannot read .gitignore: teach source-files.ts the pattern "${pattern}"`)
    }
  }
  return (path, isDirectory) =>
    patterns.some((pattern) => {
      if (pattern.startsWith('*')) return path.endsWith(pattern.slice(1))
      const directory = pattern.slice(0, -1)
      if (!isDirectory) return false
      return path === directory || (!directory.includes('/') && path.endsWith(`/${directory}`))
    })
}
