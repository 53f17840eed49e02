import { mkdir, open, stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { hasCode } from '../system-error.ts'
import { VolumeError } from './volume.ts'

interface PathRule {
  isRight: (stats: Stats) => boolean
  noun: string
  create?: (path: string) => Promise<void>
}

const rules: Readonly<Record<string, PathRule>> = Object.freeze({
  DirectoryOrCreate: {
    isRight: (stats) => stats.isDirectory(),
    noun: 'a directory',
    create: async (path) => void (await mkdir(path, { recursive: true, mode: 0o755 })),
  },
  Directory: { isRight: (stats) => stats.isDirectory(), noun: 'a directory' },
  FileOrCreate: {
    isRight: (stats) => stats.isFile(),
    noun: 'a file',
    create: async (path) => (await open(path, 'a', 0o644)).close(),
  },
  File: { isRight: (stats) => stats.isFile(), noun: 'a file' },
  Socket: { isRight: (stats) => stats.isSocket(), noun: 'a socket file' },
  CharDevice: { isRight: (stats) => stats.isCharacterDevice(), noun: 'a character device' },
  BlockDevice: { isRight: (stats) => stats.isBlockDevice(), noun: 'a block device' },
})

/** Checks the path's type. Without a type nothing is checked: the runtime creates a missing directory. */
export async function checkHostPath(path: string, type: string): Promise<void> {
  if (type === '') return
  const rule = rules[type]
  if (!rule) throw new VolumeError(`${path} has unknown type ${type}`)
  let stats = await statOf(path)
  if (!stats && rule.create) {
    await rule.create(path)
    stats = await statOf(path)
  }
  if (stats && rule.isRight(stats)) return
  throw new VolumeError(`hostPath type check failed: ${path} is not ${rule.noun}`)
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
