import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkHostPath } from './host-path.ts'
import { removeTree } from './mounts.ts'
import { mountSubPath } from './sub-path.ts'

const signal = new AbortController().signal

test('removing a tree does not follow links out of it', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'skerry-mounts-'))
  context.after(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'pod/sub'), { recursive: true })
  await writeFile(join(root, 'precious'), 'x')
  await symlink(root, join(root, 'pod/sub/link'))
  await removeTree(join(root, 'pod'), signal)
  assert.equal(await readFile(join(root, 'precious'), 'utf8'), 'x')
  await removeTree(join(root, 'pod'), signal)
})

for (const subPath of ['../etc', '/etc', 'a/../../b', 'link/x']) {
  test(`subPath "${subPath}" does not lead out of the volume`, async (context) => {
    const root = await mkdtemp(join(tmpdir(), 'skerry-subpath-'))
    context.after(() => rm(root, { recursive: true, force: true }))
    await symlink('/etc', join(root, 'link'))
    const request = { volumePath: root, subPath, target: join(root, 'target') }
    await assert.rejects(mountSubPath(request, signal), { name: 'VolumeError' })
  })
}

test('a hostPath is checked by its type', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'skerry-hostpath-'))
  context.after(() => rm(root, { recursive: true, force: true }))
  await checkHostPath(join(root, 'new/dir'), 'DirectoryOrCreate')
  await checkHostPath(join(root, 'new/dir'), 'Directory')
  await checkHostPath(join(root, 'file'), 'FileOrCreate')
  await checkHostPath('/dev/null', 'CharDevice')
  await checkHostPath(join(root, 'absent'), '')
  await assert.rejects(checkHostPath(join(root, 'file'), 'Directory'), {
    message: `hostPath type check failed: ${join(root, 'file')} is not a directory`,
  })
  await assert.rejects(checkHostPath(join(root, 'absent'), 'File'), { name: 'VolumeError' })
})
