import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAuthority } from '@skerry/pki'
import { readCertificateAndKey } from './key-pair-files.ts'
import { peekCertificateAndKey, writeCertificateAndKey, type CertificateAndKey } from './mod.ts'

/**
 * Replaces a pair, and dies at the given rename as at a power cut: only renames change what a
 * reader finds.
 */
const writer = `
  import { promises } from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const [stepText, certificatePath, keyPath, pairText] = process.argv.slice(-4)
  const { rename } = promises
  let step = 0
  promises.rename = async (...names) => {
    if (step++ === Number(stepText)) process.kill(process.pid, 'SIGKILL')
    await rename(...names)
  }
  syncBuiltinESMExports()
  const { writeCertificateAndKey } = await import(${JSON.stringify(join(import.meta.dirname, 'key-pair-files.ts'))})
  await writeCertificateAndKey({ certificatePath, keyPath }, JSON.parse(pairText))
`

async function pairOf(commonName: string): Promise<CertificateAndKey> {
  return createAuthority({ subject: { commonName }, notBeforeMs: 0, notAfterMs: 1e12 })
}

/** Returns the signal, or null if the write was completed. */
function writeUntil(
  step: number,
  paths: { certificatePath: string; keyPath: string },
  pair: CertificateAndKey,
): string | null {
  const words = [String(step), paths.certificatePath, paths.keyPath, JSON.stringify(pair)]
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', writer]
  const { signal, status, stderr } = spawnSync(process.execPath, [...flags, '--', ...words], {
    encoding: 'utf8',
  })
  assert.ok(signal === 'SIGKILL' || status === 0, stderr)
  return signal
}

async function inDirectory(
  work: (paths: { certificatePath: string; keyPath: string }, directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-pair-'))
  try {
    const at = (name: string): string => join(directory, name)
    await work({ certificatePath: at('admin.crt'), keyPath: at('admin.key') }, directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

for (const isFirst of [true, false]) {
  const what = isFirst ? 'a first pair' : 'a renewal'
  test(`${what} that a power cut interrupts at any step leaves a certificate with its key`, async () => {
    const [before, after] = [await pairOf('before'), await pairOf('after')]
    let isWhole = false
    for (let step = 0; !isWhole; step += 1) {
      await inDirectory(async (paths, directory) => {
        if (!isFirst) await writeCertificateAndKey(paths, before)
        isWhole = writeUntil(step, paths, after) === null
        const seen = await peekCertificateAndKey(paths)
        const found = await readCertificateAndKey(paths)
        assert.deepEqual(seen, found)
        const expected = [after.certificatePem, isFirst ? undefined : before.certificatePem]
        assert.ok(expected.includes(found?.certificatePem), `step ${step}`)
        // Other users read the two files, too.
        if (found) assert.equal(await readFile(paths.keyPath, 'utf8'), found.privateKeyPem)
        await writeCertificateAndKey(paths, before)
        assert.deepEqual(await readCertificateAndKey(paths), before)
        const names = (await readdir(directory)).filter((name) => !name.startsWith('.'))
        assert.deepEqual(names.sort(), ['admin.crt', 'admin.key'])
      })
      assert.ok(step < 10, 'the write never ends')
      if (isWhole) assert.ok(step >= 2, 'nothing was interrupted')
    }
  })
}

test('a pair that another process replaces meanwhile is read whole', async () => {
  await inDirectory(async (paths) => {
    const pairs = [await pairOf('one'), await pairOf('two')]
    await writeCertificateAndKey(paths, pairs[0] ?? (await pairOf('none')))
    let isOver = false
    const writing = (async () => {
      for (let turn = 0; turn < 50; turn += 1) {
        for (const pair of pairs) await writeCertificateAndKey(paths, pair)
      }
      isOver = true
    })()
    while (!isOver) assert.ok(await peekCertificateAndKey(paths))
    await writing
  })
})

test('a key of another certificate is named, with the remedy', async () => {
  await inDirectory(async (paths) => {
    await writeCertificateAndKey(paths, await pairOf('one'))
    const other = await pairOf('two')
    await writeFile(paths.keyPath, other.privateKeyPem)
    await assert.rejects(readCertificateAndKey(paths), /admin\.key is not its key; restore both/)
  })
})
