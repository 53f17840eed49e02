import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/**
 * Every file of the repository as it stands here, by its path from the root, without what
 * .gitignore names. Git is not asked: a machine need not have it, nor an unpacked archive.
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

/** Knows the patterns that our .gitignore has: `name/`, `path/of/directory/` and `*.suffix`. */
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
