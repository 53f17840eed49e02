import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { findMissingPrograms } from '../up/system-packages.ts'
// The maker of packages for tests.
import {
  smallPackage,
  type SmallPackage,
} from '../../packages/offline-package/testing/small-package.ts'
import { installPackage } from './install-package.ts'

const { signal } = new AbortController()

async function whyNotHere(): Promise<string | false> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '')
  if (!release.includes('VERSION_ID="12"') || process.arch !== 'x64')
    return 'needs Debian 12 on x86_64'
  return (await findMissingPrograms(['node'])).length > 0 && 'needs the packages of a node'
}

const skip = await whyNotHere()

interface Machine {
  readonly packages: string
  readonly images: string
  install(made: SmallPackage, digest?: string): Promise<string[]>
}

/** A machine's directories, into which packages are copied as a hub copies them. */
function machineIn(scratch: string): Machine {
  const packages = join(scratch, 'packages')
  const images = join(scratch, 'images')
  return {
    packages,
    images,
    async install(made, digest = made.digest) {
      const lines: string[] = []
      const publicKeyFile = join(scratch, 'package.pub')
      await writeFile(publicKeyFile, made.key.publicKey)
      const options = {
        digest,
        publicKeyFile,
        packagesDirectory: packages,
        imagesDirectory: images,
        etcdDirectory: join(scratch, 'etcd'),
        node: { nodeDir: join(scratch, 'node'), runDir: join(scratch, 'run') },
      }
      await installPackage(options, (line) => lines.push(line), signal)
      return lines
    },
  }
}

async function copy({ directory, digest }: SmallPackage, { packages }: Machine): Promise<void> {
  const own = join(packages, digest.slice('sha256:'.length))
  await mkdir(own, { recursive: true })
  for (const name of ['manifest.json', 'manifest.sig'])
    await cp(join(directory, name), join(own, name))
  await cp(join(directory, 'blobs'), join(packages, 'blobs'), { recursive: true })
}

test(
  'images are put where the node looks, and a second time changes nothing',
  { skip },
  async () => {
    await using made = await smallPackage()
    const machine = machineIn(made.scratch)
    await copy(made, machine)
    assert.equal((await machine.install(made)).at(-1), '0 system packages, 1 image archives')
    const [name = ''] = await readdir(machine.images)
    assert.match(name, /^package-[0-9a-f]{64}\.tar$/)
    const before = await readFile(join(machine.images, name))
    await machine.install(made)
    assert.deepEqual(await readdir(machine.images), [name])
    assert.deepEqual(await readFile(join(machine.images, name)), before)
  },
)

test('an older package is installed, and the machine says that it is older', { skip }, async () => {
  await using newer = await smallPackage('0.3.0')
  await using older = await smallPackage('0.2.9')
  const machine = machineIn(newer.scratch)
  await copy(newer, machine)
  await machine.install(newer)
  await copy(older, machine)
  const lines = await machine.install(older)
  assert.match(lines.at(-1) ?? '', /; it is older than 0\.3\.0, which was here before$/)
})

test('files of this package and the one before stay, and all others go', { skip }, async () => {
  await using one = await smallPackage('0.1.0')
  await using two = await smallPackage('0.2.0')
  await using three = await smallPackage('0.3.0')
  const machine = machineIn(one.scratch)
  for (const made of [one, two, three, three]) {
    await copy(made, machine)
    await writeFile(join(machine.packages, 'blobs/sha256', 'a'.repeat(64)), 'of no package')
    await machine.install(made)
  }
  const kept = await readdir(machine.packages)
  const names = [two, three].map(({ digest }) => digest.slice('sha256:'.length))
  assert.deepEqual(kept.toSorted(), ['blobs', 'installed.json', ...names].toSorted())
  assert.equal((await readdir(join(machine.packages, 'blobs/sha256'))).length, 5)
})

const damaged: readonly [
  string,
  (made: SmallPackage, machine: Machine) => Promise<void>,
  RegExp,
][] = [
  [
    'another manifest in its place',
    async (made, { packages }) => {
      await using other = await smallPackage('0.9.0')
      const own = join(packages, made.digest.slice('sha256:'.length))
      await cp(join(other.directory, 'manifest.json'), join(own, 'manifest.json'))
    },
    /has not signed it/,
  ],
  [
    'a layer that is gone',
    async ({ manifest }, { packages }) => {
      await rm(join(packages, 'blobs/sha256', manifest.images[0]?.blobs[0]?.sha256 ?? ''))
    },
    /ENOENT/,
  ],
  [
    'a package file with other content',
    async ({ manifest }, { packages }) => {
      const sum = manifest.releases[0]?.debs[0]?.file.sha256 ?? ''
      await writeFile(join(packages, 'blobs/sha256', sum), 'bed')
    },
    /content differs from its name/,
  ],
]
for (const [what, damage, message] of damaged) {
  test(`${what} is found before anything is installed`, { skip }, async () => {
    await using made = await smallPackage()
    const machine = machineIn(made.scratch)
    await copy(made, machine)
    await damage(made, machine)
    await assert.rejects(machine.install(made), (error) => {
      assert.ok(error instanceof ExpectedError, String(error))
      assert.match(error.message, message)
      return true
    })
    await assert.rejects(readdir(machine.images), /ENOENT/)
  })
}

test('a digest that is a path, and one of another package, install nothing', { skip }, async () => {
  await using made = await smallPackage()
  await using other = await smallPackage('0.9.0')
  const machine = machineIn(made.scratch)
  await copy(made, machine)
  await assert.rejects(machine.install(made, 'sha256:../..'), /64 hexadecimal digits/)
  const place = join(machine.packages, other.digest.slice('sha256:'.length))
  await cp(join(machine.packages, made.digest.slice('sha256:'.length)), place, { recursive: true })
  await assert.rejects(machine.install(made, other.digest), /has another one/)
})
