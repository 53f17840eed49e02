import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeDirectory } from './files.ts'

test('a directory goes with everything in it, and of one behind a link nothing is left but the link', async () => {
  const base = await mkdtemp(join(tmpdir(), 'skerry-files-'))
  try {
    const [plain, real, link] = [join(base, 'plain'), join(base, 'real'), join(base, 'link')]
    for (const each of [plain, real]) {
      await mkdir(join(each, 'below'), { recursive: true })
      await writeFile(join(each, 'below', 'token'), 'a token')
    }
    await symlink(real, link)
    for (const each of [plain, link, join(base, 'nothing')]) await removeDirectory(each)
    assert.deepEqual((await readdir(base)).toSorted(), ['link', 'real'])
    assert.deepEqual(await readdir(real), [])
  } finally {
    await rm(base, { recursive: true })
  }
})
