import assert from 'node:assert/strict'
import { test } from 'node:test'
import { provisioningBounds } from '../limits-table.ts'
import { batchesOf, parseSystem, wantedFiles } from './copy-package.ts'

const fileOf = (name: string, bytes = 1) => ({ from: `/hub/${name}`, sha256: name, bytes })

test('a machine describes its system, its space and its packages in lines', () => {
  const text = `release debian-12
architecture x86_64
free 2048
deb runc 1.1.5+ds1-1
deb libcap2 1:2.66-4
`
  const { release, architecture, freeBytes, installed } = parseSystem(text)
  assert.deepEqual([release, architecture, freeBytes], ['debian-12', 'x86_64', 2048 * 1024])
  assert.deepEqual([...installed], ['runc 1.1.5+ds1-1', 'libcap2 1:2.66-4'])
})

test('a machine that describes nothing has no space and no packages', () => {
  const { release, freeBytes, installed } = parseSystem('free lots\n\0\n')
  assert.deepEqual([release, freeBytes, installed.size], ['', Number.NaN, 0])
})

test('files are wanted once, and those of packages in the same version are not', () => {
  const files = {
    program: {
      version: '1',
      files: [{ file: fileOf('engine'), to: 'x' }],
      archive: fileOf('scripts'),
      launcher: () => '',
    },
    debs: [
      { name: 'runc', version: '1', file: fileOf('runc') },
      { name: 'kmod', version: '2', file: fileOf('kmod') },
    ],
    images: [fileOf('layer'), fileOf('layer'), fileOf('engine')],
  }
  const wanted = wantedFiles(files, new Set(['runc 1', 'kmod 1']))
  assert.deepEqual(
    wanted.map(({ sha256 }) => sha256),
    ['engine', 'scripts', 'kmod', 'layer'],
  )
  const ofMember = wantedFiles(files, new Set(['runc 1', 'kmod 2']), [fileOf('etcd')])
  assert.deepEqual(
    ofMember.map(({ sha256 }) => sha256),
    ['engine', 'scripts', 'etcd', 'layer'],
  )
})

test('small files are copied together and large ones alone, in their order', () => {
  const { batchBytes, batchFilesMax } = provisioningBounds.steps
  const lengths = [batchBytes * 3, 1, 2, batchBytes, 1, 1]
  const batches = batchesOf(lengths.map((bytes, at) => fileOf(`${at}`, bytes)))
  assert.deepEqual(
    batches.map((batch) => batch.map(({ sha256 }) => sha256)),
    [['0'], ['1', '2'], ['3'], ['4', '5']],
  )
  const many = Array.from({ length: batchFilesMax + 1 }, (_, at) => fileOf(`${at}`, 0))
  assert.deepEqual(
    batchesOf(many).map(({ length }) => length),
    [batchFilesMax, 1],
  )
  assert.deepEqual(batchesOf([]), [])
})
