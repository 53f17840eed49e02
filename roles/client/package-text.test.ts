import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
// The maker of packages for tests.
import { smallPackage } from '../../packages/offline-package/testing/small-package.ts'

const program = join(import.meta.dirname, '../../cmd/skerry.ts')

function skerry(...args: string[]): { exitCode: number | null; stdout: string; stderr: string } {
  const node = ['--disable-warning=ExperimentalWarning', program]
  const { status, stdout, stderr } = spawnSync(process.execPath, [...node, 'package', ...args], {
    encoding: 'utf8',
  })
  return { exitCode: status, stdout, stderr }
}

async function inScratch(act: (scratch: string) => Promise<void>): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-package-text-'))
  try {
    await act(scratch)
  } finally {
    await rm(scratch, { recursive: true })
  }
}

test('a key pair is made once, and only its maker can read the private half', async () => {
  await inScratch(async (scratch) => {
    const path = join(scratch, 'operator')
    assert.equal(skerry('key', '--output', path).stdout, `${path}.key\n${path}.pub\n`)
    assert.equal((await stat(`${path}.key`)).mode & 0o777, 0o600)
    const before = await readFile(`${path}.key`, 'utf8')
    const again = skerry('key', '--output', path)
    assert.equal(again.exitCode, 2)
    assert.match(again.stderr, /operator\.key: it exists, and packages may be signed with it/)
    assert.equal(await readFile(`${path}.key`, 'utf8'), before)
  })
})

test('a package is shown, and verified with the right key only', async () => {
  await using made = await smallPackage()
  const { directory, digest, scratch, key } = made
  const shown = skerry('show', directory)
  assert.match(shown.stdout, new RegExp(`^${digest}: 5 files, \\d+\n`))
  assert.match(shown.stdout, /\nprogram +x86_64 +13 +0\.2\.0-abcdefabcdef\n/)
  assert.equal(JSON.parse(skerry('show', directory, '-o', 'json').stdout).digest, digest)
  const publicKey = join(scratch, 'operator.pub')
  await writeFile(publicKey, key.publicKey)
  assert.equal(skerry('verify', directory, '--public-key', publicKey).stdout, shown.stdout)
  await appendFile(join(directory, 'manifest.json'), ' ')
  const refused = skerry('verify', directory, '--public-key', publicKey)
  assert.deepEqual([refused.exitCode, refused.stdout], [1, ''])
  assert.match(refused.stderr, /this key has not signed it/)
})

test('a package is not begun with a wrong option or a key that others can read', async () => {
  await inScratch(async (scratch) => {
    const key = join(scratch, 'operator')
    skerry('key', '--output', key)
    const output = join(scratch, 'package')
    const create = (...args: string[]) =>
      skerry('create', '--key', `${key}.key`, '--output', output, ...args)
    const cases: readonly [string[], RegExp][] = [
      [[], /give --release/],
      [['--release', 'debian-9'], /use one of debian-12/],
      [['--release', '../debian-12'], /use one of debian-12/],
      [['--release', 'debian-12', '--image-ref', '-v'], /is not a full name/],
      [['--release', 'debian-12', '--image-ref', 'nginx'], /is not a full name/],
      [['--release', 'debian-12', '--mirror', 'debian-12'], /write <release>=<value>/],
      [['--release', 'debian-12', '--mirror', 'debian-9=http://x'], /use one of debian-12/],
      [['--release', 'debian-12', '--architecture', 'riscv64'], /use x86_64 or aarch64/],
    ]
    for (const [args, message] of cases) {
      const { exitCode, stderr } = create(...args)
      assert.match(stderr, message)
      assert.notEqual(exitCode, 0)
    }
    await chmod(`${key}.key`, 0o640)
    assert.match(create('--release', 'debian-12').stderr, /others may read it; run chmod 600/)
    await assert.rejects(stat(output))
  })
})
