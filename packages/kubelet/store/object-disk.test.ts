import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { silentLogger } from '@skerry/base'
import type { Pod } from '@skerry/api'
import { ObjectDisk } from './object-disk.ts'
import { objectsToRead } from './objects-to-read.ts'

async function directoryFor(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-disk-'))
  context.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } })

test('a written object is there after a restart, readable by nobody else', async (context) => {
  const directory = await directoryFor(context)
  const disk = new ObjectDisk(directory, silentLogger)
  disk.put({ resource: 'secrets', key: 'shop/keys' }, secret('keys'))
  disk.put({ resource: 'secrets', key: 'shop/old' }, secret('old'))
  disk.remove({ resource: 'secrets', key: 'shop/old' })
  await disk.flush()
  const loaded = await new ObjectDisk(directory, silentLogger).load('secrets')
  assert.deepEqual([...loaded], [['shop/keys', secret('keys')]])
  const { mode } = await stat(join(directory, 'secrets', 'shop%2Fkeys.json'))
  assert.equal(mode & 0o777, 0o600)
})

test('a damaged or half-written file is left out, the others are read', async (context) => {
  const directory = await directoryFor(context)
  const disk = new ObjectDisk(directory, silentLogger)
  for (const name of ['a', 'b', 'c']) disk.put({ resource: 'pods', key: name }, secret(name))
  await disk.flush()
  const file = join(directory, 'pods', 'a.json')
  await writeFile(file, (await readFile(file, 'utf8')).replace('"a"', '"x"'))
  await writeFile(join(directory, 'pods', 'b.json'), 'abc')
  await mkdir(join(directory, 'pods', 'e.json'))
  await writeFile(join(directory, 'pods', 'f.json'), '')
  await writeFile(join(directory, 'pods', 'd.json.new'), '{')
  assert.deepEqual([...(await disk.load('pods')).keys()], ['c'])
})

test('a pod names the objects that its node has to know, each once', () => {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      imagePullSecrets: [{ name: 'pull' }],
      containers: [
        {
          name: 'main',
          env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'a' } } }],
          envFrom: [{ configMapRef: { name: 'settings' } }],
        },
      ],
      volumes: [
        { name: 'v', secret: { secretName: 'keys' } },
        { name: 'p', projected: { sources: [{ configMap: { name: 'ca' } }] } },
        { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'e', ephemeral: {} },
      ],
    },
  }
  const names = objectsToRead(pod).map(({ kind, name }) => `${kind}/${name}`)
  assert.deepEqual(names.toSorted(), [
    'configMaps/ca',
    'configMaps/settings',
    'persistentVolumeClaims/data',
    'persistentVolumeClaims/web-e',
    'secrets/keys',
    'secrets/pull',
  ])
})
