import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { fileDamages } from '@skerry/testing'
import { startAndStop } from '../../testing/scenes/test-control-plane.ts'

/** The files that a cluster cannot do without. Every other one is created again. */
const mustRefuse = /^(store\.db|pki\/ca\.(crt|key)|pki\/encryption\.yaml)$/

const damages: typeof fileDamages = {
  ...fileDamages,
  'a link to itself': async (path) => {
    await rm(path)
    await symlink(basename(path), path)
  },
  'a key that signs nothing here': async (path) => {
    const { privateKey } = generateKeyPairSync('ed25519')
    await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  },
}

async function filesOf(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true })
  return names
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(directory.length + 1))
}

test('each damaged file of a control plane is made again or refused in one line, and its keys are never replaced', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'skerry-damaged-data-'))
  const whole = join(parent, 'whole')
  const failures: string[] = []
  try {
    await startAndStop(whole)
    for (const file of await filesOf(whole)) {
      for (const [what, damage] of Object.entries(damages)) {
        const directory = join(parent, 'damaged')
        await cp(whole, directory, { recursive: true })
        await damage(join(directory, file))
        const others = await contents(directory)
        try {
          await startAndStop(directory)
          if (mustRefuse.test(file)) failures.push(`started: ${file} ${what}`)
        } catch (error) {
          if (!(error instanceof ExpectedError)) failures.push(`${file} ${what}: ${String(error)}`)
          else if (error.message.includes('\n')) failures.push(`lines: ${error.message}`)
          else if (mustRefuse.test(file))
            failures.push(...badAdvice(error.message, file, directory))
        }
        const after = await contents(directory)
        for (const [name, text] of others) {
          if (mustRefuse.test(name) && after.get(name) !== text)
            failures.push(`changed: ${name} by ${file} ${what}`)
        }
        await rm(directory, { recursive: true })
      }
    }
    assert.deepEqual(failures, [])
  } finally {
    await rm(parent, { recursive: true })
  }
})

/**
 * Returns what is wrong with a message: it must name the file and the source of another, and must not advise
 * to give up the authority.
 */
function badAdvice(message: string, file: string, directory: string): string[] {
  const stem = join(directory, file).replace(/(ca)\.(crt|key)$/, '$1.')
  const isGood = message.includes(stem) && /restore|check its rights/.test(message)
  return isGood && !/remove both/.test(message) ? [] : [`advice: ${message}`]
}

async function contents(directory: string): Promise<Map<string, string>> {
  const files = (await filesOf(directory)).filter((name) => name.startsWith('pki'))
  return new Map(
    await Promise.all(
      files.map(async (name) => [name, await readFile(join(directory, name), 'latin1')] as const),
    ),
  )
}
